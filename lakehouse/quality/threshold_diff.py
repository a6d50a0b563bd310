"""Whether one threshold lets pass only what another does."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from lakehouse.quality.check_keys import COMPARISONS
from lakehouse.quality.contract_checks import ContractCheck

# What Soda compares with where a check says nothing.
_DEFAULT = {"must_be": 0}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {"row_count": {"must_be_greater_than": 0}}
_MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}


@dataclass(frozen=True)
class Allowed:
    """The numbers that pass: all from `low` to `high`, these two only where they are not `open`."""

    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    def within(self, other: "Allowed") -> bool:
        """Whether the other one lets pass all of them."""
        low = self.low > other.low or (self.low == other.low and (self.low_open or not other.low_open))
        high = self.high < other.high or (self.high == other.high and (self.high_open or not other.high_open))
        return low and high


def failing_threshold(check: ContractCheck) -> Mapping[str, Any]:
    """What a check fails by; of two thresholds the one that does not warn alone."""
    said = check.body.get("threshold") or {}
    compared = {key: value for key, value in said.items() if key in COMPARISONS}
    if "additional" in said and said.get("level") == "warn":
        compared = {key: value for key, value in said["additional"].items() if key in COMPARISONS}
    return compared or _DEFAULTS.get(check.type, _DEFAULT)


def metric_of(check: ContractCheck) -> str:
    """What is compared: a number or percent of rows, or the unit of an age."""
    said = check.body.get("threshold") or {}
    if check.type == "freshness":
        return str(said.get("unit", "hour"))
    return str(said.get("metric", "count"))


def tightens(old: ContractCheck, new: ContractCheck) -> bool | None:
    """Whether all that passes the new threshold passed the old one; None: they cannot be compared."""
    before, after = allowed(old), allowed(new)
    if before is None or after is None:
        return None
    if metric_of(old) != metric_of(new) and not (old.type == "freshness" or _none_bad(before, after)):
        return None
    return after.within(before)


def allowed(check: ContractCheck) -> Allowed | None:
    """The numbers that pass; None if they are not of one piece."""
    [(key, value)] = failing_threshold(check).items()
    unit = _MINUTES[metric_of(check)] if check.type == "freshness" else 1
    match key:
        case "must_be":
            return Allowed(value * unit, value * unit)
        case "must_be_between":
            limits = value
        case "must_not_be" | "must_be_not_between":
            return None
        case _:
            limits = {key.removeprefix("must_be_"): value}
    low = limits.get("greater_than", limits.get("greater_than_or_equal", -inf))
    high = limits.get("less_than", limits.get("less_than_or_equal", inf))
    return Allowed(low * unit, high * unit, "greater_than" in limits, "less_than" in limits)


def _none_bad(*alloweds: Allowed) -> bool:
    """No row and no percent of the rows are the same."""
    return all((allowed.low, allowed.high) == (0, 0) for allowed in alloweds)


def in_words(check: ContractCheck) -> str:
    """The threshold that a check fails by."""
    said = ", ".join(
        f"{key.replace('_', ' ')} {_limits(value)}" for key, value in failing_threshold(check).items()
    )
    metric = metric_of(check)
    return said if metric == "count" else f"{said} {metric}"


def _limits(value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"{value:g}"
    return " and ".join(f"{key.replace('_', ' ')} {limit:g}" for key, limit in value.items())
