"""How far two distributions are apart, computed from profiles alone.

Of exact profiles the numbers are those of the rows: `tests/unit/quality/test_distribution_comparison.py`
holds them against scipy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lakehouse.quality.distribution.chi_square import survival
from lakehouse.quality.distribution.profile import ColumnProfile

if TYPE_CHECKING:
    from numpy.typing import NDArray

PSI_BINS = 10  # by the baseline's deciles, as is usual, and one below and one above all of its values
NO_SHARE = 1e-4  # stands for a share of nothing, whose logarithm there is none of
OTHER = "(other)"
NULL = "(null)"
TO_STDDEV = 1.4826  # the median absolute deviation of a normal distribution is its stddev divided by this
LEAST_SPREAD = 0.01  # of the median: what hardly ever varies is not far off by next to nothing
BEYOND = 1e6  # a z-score of what never varied and now does


@dataclass(frozen=True)
class Apart:
    """How far apart, and where the most.

    Args:
        value: the statistic.
        where: in words.
        metrics: other numbers, by name.
    """

    value: float
    where: str = ""
    metrics: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Numbers:
    """A distribution of numbers as a step function.

    Args:
        points: ascending, shape (n,).
        up_to: rows up to each of them, shape (n,).
    """

    points: "NDArray[np.float64]"
    up_to: "NDArray[np.int64]"

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.up_to[-1])

    def rows_up_to(self, values: "NDArray[np.float64]") -> "NDArray[np.int64]":
        """Rows whose value is not above each of these."""
        before = np.searchsorted(self.points, values, side="right")
        return np.concatenate([[0], self.up_to])[before]

    def quantile(self, share: float) -> float:
        """The least point that so many rows are not above."""
        return float(self.points[np.searchsorted(self.up_to, share * self.total)])


def numbers_of(profiles: Sequence[ColumnProfile]) -> Numbers:
    """All rows of these profiles as one distribution; they have a row with a value."""
    points = np.concatenate([np.asarray(profile.points, float) for profile in profiles])
    counts = np.concatenate([np.asarray(profile.counts, np.int64) for profile in profiles])
    merged, which = np.unique(points, return_inverse=True)
    rows = np.zeros(len(merged), np.int64)
    np.add.at(rows, which, counts)
    return Numbers(merged, np.cumsum(rows))


def categories_of(profiles: Sequence[ColumnProfile]) -> list[dict[str, int]]:
    """Rows of each category, by profile; what one of them has among its other rows is so in all."""
    listed = [set(profile.values) for profile in profiles if profile.other]
    named = set.intersection(*listed) if listed else None
    return [_by_category(profile, named) for profile in profiles]


def _by_category(profile: ColumnProfile, named: set[str] | None) -> dict[str, int]:
    rows: dict[str, int] = {}
    for value, count in zip(profile.values, profile.counts, strict=True):
        key = value if named is None or value in named else OTHER
        rows[key] = rows.get(key, 0) + count
    if profile.other:
        rows[OTHER] = rows.get(OTHER, 0) + profile.other
    return rows | ({NULL: profile.nulls} if profile.nulls else {})


def ks(now: ColumnProfile, baseline: Sequence[ColumnProfile]) -> Apart:
    """The Kolmogorov-Smirnov statistic: the largest difference of the two distribution functions."""
    mine, theirs = numbers_of([now]), numbers_of(baseline)
    values = np.union1d(mine.points, theirs.points)
    up_to, was = mine.rows_up_to(values) / mine.total, theirs.rows_up_to(values) / theirs.total
    at = int(np.argmax(np.abs(up_to - was)))
    where = f"{up_to[at]:.1%} are {values[at]:g} or less, of the baseline {was[at]:.1%}"
    return Apart(float(abs(up_to[at] - was[at])), where)


def psi_of_numbers(now: ColumnProfile, baseline: Sequence[ColumnProfile]) -> Apart:
    """The population stability index, in bins by the deciles of the baseline."""
    mine, theirs = numbers_of([now]), numbers_of(baseline)
    inner = [theirs.quantile(share / PSI_BINS) for share in range(1, PSI_BINS)]
    below = np.nextafter(theirs.points[0], -np.inf)
    edges = np.unique([below, *inner, theirs.points[-1]])
    shares = [
        np.diff(np.concatenate([[0], rows.rows_up_to(edges), [rows.total]])) / rows.total
        for rows in (mine, theirs)
    ]
    names = [
        f"below {theirs.points[0]:g}",
        f"{theirs.points[0]:g} to {edges[1]:g}",
        *(f"over {low:g} to {high:g}" for low, high in pairwise(edges[1:])),
        f"over {edges[-1]:g}",
    ]
    return _psi(shares[0], shares[1], names)


def psi_of_categories(now: ColumnProfile, baseline: Sequence[ColumnProfile]) -> Apart:
    """The population stability index by category, null being one."""
    names, mine, theirs = _side_by_side(now, baseline)
    return _psi(mine / mine.sum(), theirs / theirs.sum(), names)


def chi_square(now: ColumnProfile, baseline: Sequence[ColumnProfile]) -> Apart:
    """Pearson's chi-square test of whether both have the same categories: the p-value, small if not."""
    names, mine, theirs = _side_by_side(now, baseline)
    table = np.array([mine, theirs], float)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    each = (table - expected) ** 2 / expected
    statistic, freedom = float(each.sum()), len(names) - 1
    metrics = {"chi_square_statistic": statistic, "degrees_of_freedom": float(freedom)}
    p_value = survival(statistic, freedom) if freedom else 1.0
    return Apart(p_value, _where(mine / mine.sum(), theirs / theirs.sum(), each[0], names), metrics)


def robust_z(now: float, baseline: Sequence[float]) -> Apart:
    """How many robust standard deviations a number is off the median of others.

    The deviation is that of Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), by the
    median of the absolute differences; it is at least `LEAST_SPREAD` of the median.
    """
    middle = float(np.median(baseline))
    spread = TO_STDDEV * float(np.median(np.abs(np.asarray(baseline) - middle)))
    spread = max(spread, LEAST_SPREAD * abs(middle))
    if spread:
        value = (now - middle) / spread
    else:
        value = 0.0 if now == middle else float(np.copysign(BEYOND, now - middle))
    value = float(np.clip(value, -BEYOND, BEYOND))
    return Apart(value, f"{now:g}, of the baseline {middle:g} in the median", {"baseline_median": middle})


def _side_by_side(
    now: ColumnProfile, baseline: Sequence[ColumnProfile]
) -> "tuple[list[str], NDArray[np.int64], NDArray[np.int64]]":
    mine, *others = categories_of([now, *baseline])
    names = sorted({*mine, *(name for rows in others for name in rows)})
    theirs = np.array([sum(rows.get(name, 0) for rows in others) for name in names], np.int64)
    return names, np.array([mine.get(name, 0) for name in names], np.int64), theirs


def _psi(mine: "NDArray[np.float64]", theirs: "NDArray[np.float64]", names: Sequence[str]) -> Apart:
    now, was = np.maximum(mine, NO_SHARE), np.maximum(theirs, NO_SHARE)
    each = np.where((mine > 0) | (theirs > 0), (now - was) * np.log(now / was), 0.0)
    return Apart(float(each.sum()), _where(mine, theirs, each, names))


def _where(
    mine: "NDArray[np.float64]",
    theirs: "NDArray[np.float64]",
    each: "NDArray[np.float64]",
    names: Sequence[str],
) -> str:
    most = int(np.argmax(each))
    return f"{mine[most]:.1%} are {names[most]}, of the baseline {theirs[most]:.1%}"
