"""What a contract's `distribution` asks for: what is profiled, what it is compared with, and the limits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lakehouse.quality.distribution.profile import Kind

Season = Literal["weekday"]
Measure = Literal["row_count", "mean", "psi", "ks", "chi_square", "quantile"]

BASELINE = 28  # partitions: four weeks of days
BASELINE_OF_SEASON = 8  # of the same weekday: two months
LEVELS = ("warn", "fail")
MEASURES: Mapping[Kind, tuple[str, ...]] = {
    "number": ("psi", "ks", "mean", "quantiles"),
    "category": ("psi", "chi_square"),
}
NUMBER = re.compile(r"u?(tiny|small|big|huge)?int(eger)?|float|real|double|decimal(\(.*\))?|numeric(\(.*\))?")
CATEGORY = ("varchar", "text", "string", "boolean", "bool")
DIMENSION = "distribution"
ROW_COUNT = f"{DIMENSION}_row_count"
_SAID: Mapping[str, str] = {
    "row_count": "rows, in robust standard deviations off the median",
    "mean": "mean, in robust standard deviations off the median",
    "psi": "population stability index",
    "ks": "Kolmogorov-Smirnov statistic",
    "chi_square": "p-value of the chi-square test",
}


@dataclass(frozen=True)
class Limit:
    """What a number must be within, both ends included; None: there is no such end.

    Args:
        factor: of the baseline's median, times and divided by which are the ends.
    """

    low: float | None = None
    high: float | None = None
    factor: float | None = None

    def given(self, median: float | None) -> "Limit":
        """The limit as numbers.

        Args:
            median: of the baseline, which a factor needs.
        """
        if self.factor is None or median is None:
            return self
        low, high = sorted((median / self.factor, median * self.factor))
        return Limit(low, high)

    def holds(self, value: float) -> bool:
        """Whether a number is within."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.factor is not None:
            return f"must be within {self.factor:g} times of the baseline's median"
        if self.low is None:
            return f"must be less than or equal {self.high:g}"
        if self.high is None:
            return f"must be greater than or equal {self.low:g}"
        return f"must be between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class DistributionCheck:
    """One number of a partition that is compared with the partitions before.

    Args:
        name: unique in the contract; begins with the dimension.
        column: None of `row_count`.
        quantile: which, of the measure `quantile`.
        warn, fail: what it must be within; at least one of them is there.
    """

    name: str
    measure: Measure
    column: str | None = None
    quantile: str | None = None
    warn: Limit | None = None
    fail: Limit | None = None

    @property
    def blocks(self) -> bool:
        """Whether a failure keeps the rows from being published."""
        return self.fail is not None

    @property
    def needs_baseline(self) -> bool:
        """Whether it says nothing by itself."""
        limits = (self.warn, self.fail)
        return self.measure != "quantile" or any(limit and limit.factor is not None for limit in limits)

    @property
    def threshold(self) -> str:
        """Both limits in words."""
        said = [f"{self.fail}"] if self.fail else []
        return "; ".join([*said, *([f"to pass without a warning it {self.warn}"] if self.warn else [])])

    @property
    def description(self) -> str:
        """One line for people."""
        what = _SAID.get(self.measure, self.quantile or "")
        fate = "blocks" if self.blocks else "warns"
        return f"{f'{self.column}: ' if self.column else ''}{what} {self.threshold} ({fate})"


@dataclass(frozen=True)
class Distribution:
    """What a table's partitions are compared by.

    Args:
        baseline: how many of the partitions before are compared with.
        enough: fewer say nothing.
        season: what those have in common with the partition; None: nothing.
        columns: what is profiled.
    """

    baseline: int
    enough: int
    season: Season | None
    columns: Mapping[str, Kind]
    checks: tuple[DistributionCheck, ...]


def distribution_of(said: Mapping[str, Any], columns: Mapping[str, str]) -> Distribution:
    """What a contract asks for, of what its file holds; `distribution_faults` found nothing wrong with it.

    Args:
        columns: the contract's types by column.
    """
    season = said.get("season")
    baseline = said.get("baseline", BASELINE_OF_SEASON if season else BASELINE)
    kinds = {name: kind_of(columns[name], asked) for name, asked in (said.get("columns") or {}).items()}
    checks = []
    if "row_count" in said:
        checks.append(_check(ROW_COUNT, "row_count", None, said["row_count"]))
    for column, asked in (said.get("columns") or {}).items():
        for measure in MEASURES[kinds[column]]:
            if measure == "quantiles":
                checks += [
                    _check(_name(column, quantile), "quantile", column, limits, quantile)
                    for quantile, limits in asked.get("quantiles", {}).items()
                ]
            elif measure in asked:
                checks.append(_check(_name(column, measure), measure, column, asked[measure]))
    return Distribution(baseline, said.get("enough", (baseline + 1) // 2), season, kinds, tuple(checks))


def kind_of(data_type: str, asked: Mapping[str, Any]) -> Kind:
    """What a column is profiled as: numbers may be codes, which the contract says."""
    if asked.get("kind") == "category" or data_type.lower() in CATEGORY:
        return "category"
    return "number"


def profilable(data_type: str) -> bool:
    """Whether a column of this type can be profiled."""
    return data_type.lower() in CATEGORY or NUMBER.fullmatch(data_type.lower()) is not None


def _name(column: str, what: str) -> str:
    return "_".join((DIMENSION, re.sub(r"\W+", "_", column), what))


def _check(
    name: str, measure: Any, column: str | None, said: Mapping[str, Any], quantile: str | None = None
) -> DistributionCheck:
    warn, fail = (_limit(measure, said[level]) if level in said else None for level in LEVELS)
    return DistributionCheck(name, measure, column, quantile, warn, fail)


def _limit(measure: Measure, said: Any) -> Limit:
    match measure:
        case "row_count" | "mean":
            return Limit(-said, said)
        case "chi_square":
            return Limit(low=said)
        case "quantile":
            return Limit(factor=said["factor"]) if isinstance(said, dict) else Limit(*said)
        case _:
            return Limit(high=said)
