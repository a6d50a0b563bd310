"""By which columns a table's rows can be told apart: a bounded search, that finds the obvious.

Of many columns some are always unique together by chance. So only columns that may be a key are tried, the
likeliest first, and no more than three together.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from lakehouse.quality.table_profile import ColumnProfile, TableProfile
from lakehouse.storage.sql import identifier, qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_COLUMNS = 3
CANDIDATES = 6  # of which two or three are tried together
TRIES = 20  # queries over the table, for each number of columns
# Among fewer rows, all kinds of columns are unique.
ROWS_FOR_ONE = 5
ROWS_FOR_SEVERAL = 50
_ABOUT = 0.7  # of the values there would have to be: their count is an estimate

_TIMES = ("date", "timestamp", "timestamptz")
_NUMBERS = ("integer", "bigint")
_KEY_TYPES = (*_TIMES, *_NUMBERS, "varchar", "uuid")
_ID = re.compile(
    r"(^|_)(id|key|code|no|nr|num|number|uuid|sku|hash)$|[a-z](Id|Key|Code|Number)$", re.IGNORECASE
)


def unique_columns(connection: "DuckDBPyConnection", profile: TableProfile) -> list[str]:
    """Columns whose values are all different and never null, the likeliest key first.

    Args:
        connection: on which the table's name is a view.
    """
    if profile.rows < ROWS_FOR_ONE:
        return []
    likely = [column for column in _candidates(profile) if column.distinct >= _ABOUT * profile.rows]
    return [column.name for column in likely[:TRIES] if _unique(connection, profile, [column])]


def composite_key(connection: "DuckDBPyConnection", profile: TableProfile) -> tuple[str, ...]:
    """The first two or three columns that are unique together; empty if none of those tried are.

    Args:
        connection: on which the table's name is a view.
    """
    if profile.rows < ROWS_FOR_SEVERAL:
        return ()
    for columns in _together(profile):
        if _unique(connection, profile, columns):
            return tuple(column.name for column in columns)
    return ()


def _together(profile: TableProfile) -> Iterator[Sequence[ColumnProfile]]:
    """Columns to try, fewer before more."""
    candidates = _for_several(profile)
    for number in range(2, MOST_COLUMNS + 1):
        enough = [
            columns
            for columns in combinations(candidates, number)
            if prod(column.distinct for column in columns) >= _ABOUT * profile.rows
        ]
        yield from enough[:TRIES]


def _for_several(profile: TableProfile) -> list[ColumnProfile]:
    """The likeliest; of the times, which tell one another, the partition and the finest alone."""
    varied = [column for column in _candidates(profile) if column.distinct > 1]
    times = [c for c in varied if c.type in _TIMES and c.name != profile.partition_by]
    return [column for column in varied if column not in times[1:]][:CANDIDATES]


def _candidates(profile: TableProfile) -> list[ColumnProfile]:
    def unlikely(column: ColumnProfile) -> tuple[bool, ...] | tuple[int, ...]:
        return (
            column.name != profile.partition_by,
            not _ID.search(column.name),
            column.type not in _TIMES,
            column.type in _NUMBERS,  # many are measured
            -column.distinct,
        )

    fit = [column for column in profile.columns if column.nulls == 0 and column.type in _KEY_TYPES]
    return sorted(fit, key=unlikely)


def _unique(
    connection: "DuckDBPyConnection", profile: TableProfile, columns: Sequence[ColumnProfile]
) -> bool:
    names = ", ".join(identifier(column.name) for column in columns)
    twice = f"select 1 from {qualified(profile.table)} group by {names} having count(*) > 1 limit 1"
    return not connection.execute(twice).fetchall()
