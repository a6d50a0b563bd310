"""A partition judged by the profiles of the partitions before it, in the order of their dates."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from statistics import median

from lakehouse.quality.check_result import FAILED, NOT_EVALUATED, PASSED, WARNED, CheckResult
from lakehouse.quality.distribution.comparison import (
    Apart,
    chi_square,
    ks,
    psi_of_categories,
    psi_of_numbers,
    robust_z,
)
from lakehouse.quality.distribution.declared import Distribution, DistributionCheck
from lakehouse.quality.distribution.profile import ColumnProfile, PartitionProfile

TOO_SHORT = "not enough history"  # what a check says that had too little to compare with


def baseline_days(days: Iterable[date], partition: date, declared: Distribution) -> list[date]:
    """Those that a partition is compared with: the latest before it, of its weekday if that is asked."""
    before = sorted((day for day in days if day < partition), reverse=True)
    if declared.season == "weekday":
        before = [day for day in before if day.weekday() == partition.weekday()]
    return before[: declared.baseline]


def judge_distribution(
    declared: Distribution, now: PartitionProfile, profiles: Mapping[date, PartitionProfile]
) -> list[CheckResult]:
    """Each check of a partition.

    Args:
        profiles: of partitions that are published, also later ones.
    """
    baseline = [profiles[day] for day in baseline_days(profiles, now.partition, declared)]
    return [_judge(check, declared, now, baseline) for check in declared.checks]


def unjudged(declared: Distribution, outcome: str, note: str) -> list[CheckResult]:
    """The checks where there is nothing to judge, or nothing to judge it by."""
    return [
        CheckResult(check.name, outcome, check.blocks, None, check.threshold, note=note)
        for check in declared.checks
    ]


def _judge(
    check: DistributionCheck,
    declared: Distribution,
    now: PartitionProfile,
    baseline: Sequence[PartitionProfile],
) -> CheckResult:
    mine = now.columns.get(check.column or "")
    before = [profile for profile in baseline if check.column is None or _has_values(profile, check.column)]
    metrics = {"baseline_partitions": float(len(before))}
    if check.column is not None and (mine is None or not _judged_values(mine)):
        note = f"no row has a value of {check.column}"
        return CheckResult(check.name, FAILED, check.blocks, None, check.threshold, metrics, note)
    if check.needs_baseline and len(before) < declared.enough:
        of_season = f" of the same {declared.season}" if declared.season else ""
        note = f"{TOO_SHORT}: {len(before)} of {declared.enough} partitions{of_season}"
        metrics["baseline_needed"] = float(declared.enough)
        return CheckResult(check.name, PASSED, check.blocks, None, check.threshold, metrics, note)
    if check.measure == "quantile":
        return _quantile(check, now, before, metrics)
    apart = _compare(check, now, before)
    return _result(check, apart.value, metrics | dict(apart.metrics or {}), apart.where)


def _compare(check: DistributionCheck, now: PartitionProfile, before: Sequence[PartitionProfile]) -> Apart:
    if check.column is None:
        return robust_z(now.rows, [profile.rows for profile in before])
    mine, theirs = now.columns[check.column], [profile.columns[check.column] for profile in before]
    match check.measure:
        case "mean":
            return robust_z(mine.mean or 0.0, [column.mean or 0.0 for column in theirs])
        case "ks":
            return ks(mine, theirs)
        case "chi_square":
            return chi_square(mine, theirs)
        case _:
            return (psi_of_numbers if mine.kind == "number" else psi_of_categories)(mine, theirs)


def _quantile(
    check: DistributionCheck,
    now: PartitionProfile,
    before: Sequence[PartitionProfile],
    metrics: Mapping[str, float],
) -> CheckResult:
    """A quantile, within its limits or some times of what it usually is."""
    column, quantile = check.column or "", check.quantile or ""
    value = now.columns[column].quantiles[quantile]
    usual = [profile.columns[column].quantiles[quantile] for profile in before]
    middle = median(usual) if usual else None
    numbers = dict(metrics) | ({} if middle is None else {"baseline_median": float(middle)})
    if check.needs_baseline and not middle:
        note = f"the baseline's {quantile} is 0 in the median, of which there are no times"
        return CheckResult(check.name, NOT_EVALUATED, check.blocks, value, check.threshold, numbers, note)
    was = "" if middle is None else f", of the baseline {middle:g} in the median"
    return _result(check, value, numbers, f"{value:g}{was}", middle)


def _result(
    check: DistributionCheck,
    value: float,
    metrics: dict[str, float],
    where: str,
    middle: float | None = None,
) -> CheckResult:
    outcome = PASSED
    if check.warn is not None and not check.warn.given(middle).holds(value):
        outcome = WARNED
    if check.fail is not None and not check.fail.given(middle).holds(value):
        outcome = FAILED
    said = f"{check.column or 'rows'}: {where}" if outcome != PASSED else ""
    return CheckResult(check.name, outcome, check.blocks, value, check.threshold, metrics, said)


def _has_values(profile: PartitionProfile, column: str) -> bool:
    return column in profile.columns and _judged_values(profile.columns[column])


def _judged_values(column: ColumnProfile) -> bool:
    """Whether there is anything to compare; of categories, null is one."""
    return bool(column.valued or (column.kind == "category" and column.nulls))
