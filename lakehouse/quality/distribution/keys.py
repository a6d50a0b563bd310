"""The keys below `distribution`, with what may stand in each; every other is refused."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, get_args

from lakehouse.quality.distribution.declared import (
    BASELINE,
    BASELINE_OF_SEASON,
    LEVELS,
    MEASURES,
    Season,
    kind_of,
    profilable,
)
from lakehouse.quality.distribution.profile import QUANTILES, Kind

DISTRIBUTION = ("baseline", "enough", "season", "row_count", "columns")
OF_COLUMN = ("kind", "psi", "ks", "chi_square", "mean", "quantiles")
FACTOR = "factor"
LEAST_BASELINE = 2


def distribution_faults(said: Mapping[str, Any], columns: list[Any]) -> Iterator[str]:
    """What keeps this from being what partitions are compared by.

    Args:
        columns: the contract's, as its file holds them.
    """
    where = "distribution"
    yield from _unknown(said, DISTRIBUTION, where)
    yield from _baseline_faults(said)
    if "season" in said and said["season"] not in get_args(Season):
        yield f"{where}: season is {said['season']!r}; known is {', '.join(get_args(Season))}"
    if "row_count" in said:
        yield from _limit_faults("row_count", said["row_count"], f"{where}: row_count")
    asked = said.get("columns")
    if asked is not None and not isinstance(asked, dict):
        yield f"{where}: columns is {asked!r}, not a mapping"
        return
    if not asked and "row_count" not in said:
        yield f"{where} asks for nothing: give it row_count or columns"
    declared = {str(column.get("name")): column for column in columns if isinstance(column, dict)}
    for name, measures in (asked or {}).items():
        yield from _column_faults(name, measures, declared.get(name))


def _baseline_faults(said: Mapping[str, Any]) -> Iterator[str]:
    numbers: dict[str, int] = {}
    for key in (key for key in ("baseline", "enough") if key in said):
        number = said[key]
        if isinstance(number, bool) or not isinstance(number, int) or number < LEAST_BASELINE:
            yield f"distribution: {key} is {number!r}, not a number of partitions, {LEAST_BASELINE} or more"
        else:
            numbers[key] = number
    baseline = numbers.get("baseline", BASELINE_OF_SEASON if "season" in said else BASELINE)
    if numbers.get("enough", 0) > baseline:
        yield f"distribution: enough is {numbers['enough']}, more than the baseline's {baseline}"


def _column_faults(name: str, said: Any, declared: Mapping[str, Any] | None) -> Iterator[str]:
    where = f"distribution: column {name}"
    if declared is None:
        yield f"{where} is no column of the contract"
        return
    if not isinstance(said, dict):
        yield f"{where} is {said!r}, not a mapping"
        return
    if declared.get("pii", "none") != "none":
        yield f"{where} is {declared['pii']}: its values would be kept in profiles"
    data_type = str(declared.get("data_type"))
    if not profilable(data_type):
        yield f"{where} is {data_type}; numbers, texts and booleans can be profiled"
        return
    if said.get("kind", "category") not in get_args(Kind):
        yield f"{where}: kind is {said['kind']!r}; known are {', '.join(get_args(Kind))}"
        return
    kind = kind_of(data_type, said)
    if said.get("kind", kind) != kind:
        yield f"{where}: kind is {said['kind']}, but {data_type} is a {kind}"
        return
    yield from _unknown(said, OF_COLUMN, where)
    if not set(MEASURES[kind]) & set(said):
        yield f"{where} asks for nothing; of a {kind} it may be {', '.join(MEASURES[kind])}"
    for measure in (key for key in OF_COLUMN if key in said and key != "kind"):
        if measure not in MEASURES[kind]:
            yield f"{where}: {measure} is not for a {kind}; that may be {', '.join(MEASURES[kind])}"
        elif measure == "quantiles":
            yield from _quantile_faults(said[measure], where)
        else:
            yield from _limit_faults(measure, said[measure], f"{where}: {measure}")


def _quantile_faults(said: Any, where: str) -> Iterator[str]:
    if not isinstance(said, dict) or not said:
        yield f"{where}: quantiles is {said!r}, not a mapping such as p99: {{warn: [0, 100]}}"
        return
    yield from _unknown(said, tuple(QUANTILES), f"{where}: quantiles")
    for name in (name for name in said if name in QUANTILES):
        yield from _limit_faults("quantiles", said[name], f"{where}: {name}")


def _limit_faults(measure: str, said: Any, where: str) -> Iterator[str]:
    if not isinstance(said, dict) or not said:
        yield f"{where} is {said!r}, not a mapping with warn, fail or both"
        return
    yield from _unknown(said, LEVELS, where)
    levels = [level for level in LEVELS if level in said]
    fault_of = _bounds_fault if measure == "quantiles" else partial(_number_fault, measure)
    faults = {level: fault for level in levels if (fault := fault_of(said[level]))}
    yield from (f"{where}: {level} {fault}" for level, fault in faults.items())
    if not faults and len(levels) > 1 and measure != "quantiles":
        sooner = said["warn"] > said["fail"] if measure == "chi_square" else said["warn"] < said["fail"]
        if not sooner:
            yield f"{where}: warn is {said['warn']}, which is not met before fail, {said['fail']}"


def _number_fault(measure: str, said: Any) -> str:
    if not _is_number(said) or not said > 0:
        return f"is {said!r}, not a number over 0"
    if measure in ("ks", "chi_square") and said >= 1:
        return f"is {said!r}, but {measure} is between 0 and 1"
    return ""


def _bounds_fault(said: Any) -> str:
    if isinstance(said, dict):
        right = set(said) == {FACTOR} and _is_number(said[FACTOR]) and said[FACTOR] > 1
        return "" if right else f"is {said!r}, not a {FACTOR} over 1"
    if not isinstance(said, list) or len(said) != 2 or not all(s is None or _is_number(s) for s in said):  # noqa: PLR2004
        return f"is {said!r}, neither [low, high] (one of them may be null) nor a {FACTOR}"
    ends = [end for end in said if end is not None]
    if not ends:
        return "has neither a low nor a high end"
    return f"is {said!r}: the low end is over the high one" if ends != sorted(ends) else ""


def _is_number(said: Any) -> bool:
    return isinstance(said, int | float) and not isinstance(said, bool)


def _unknown(said: Mapping[str, Any], known: tuple[str, ...], where: str) -> Iterator[str]:
    for key in said:
        if key not in known:
            yield f"{where} has the unknown key {key!r}; known are {', '.join(known)}"
