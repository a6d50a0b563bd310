"""What is kept of a partition to compare others with: counts of values, never a row.

A profile holds a column's distribution function. Of up to `MAX_VALUES` different numbers it holds each
with its count, so that what is computed from it is exact. Of more it holds the function at `POINTS`
numbers, where it is exact too; between two of them lies less than 1/512 of the rows. So a
Kolmogorov-Smirnov statistic of two such profiles is off by less than 2/512 = 0.004.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

Kind = Literal["number", "category"]

MAX_VALUES = 1000  # a day of minutes has 1440, of delays some 300; a profile stays below some 10 kB
POINTS = 512
QUANTILES: Mapping[str, float] = {
    "min": 0.0,
    "p1": 0.01,
    "p5": 0.05,
    "p10": 0.1,
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "max": 1.0,
}


@dataclass(frozen=True)
class ColumnProfile:
    """One column of one partition.

    Args:
        nulls: rows without a value; of numbers also NaN and the infinities.
        distinct: how many different values there are.
        mean, stddev: of numbers; stddev is the sample's.
        quantiles: of numbers, by the names of `QUANTILES`: the least value that so many are not above.
        points: of numbers, ascending; `counts` tells the rows above the point before and up to this one.
        values: of categories, the most frequent first; `counts` tells their rows.
        other: rows of categories beyond `MAX_VALUES`.
        exact: whether no value was left out: each is a point, or one of the values.
    """

    kind: Kind
    nulls: int
    distinct: int
    counts: tuple[int, ...] = ()
    points: tuple[float, ...] = ()
    values: tuple[str, ...] = ()
    other: int = 0
    exact: bool = True
    mean: float | None = None
    stddev: float | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)

    @property
    def valued(self) -> int:
        """Rows with a value."""
        return sum(self.counts) + self.other


@dataclass(frozen=True)
class PartitionProfile:
    """A partition: its rows, and those of its columns that are profiled."""

    partition: date
    rows: int
    columns: Mapping[str, ColumnProfile] = field(default_factory=dict)
