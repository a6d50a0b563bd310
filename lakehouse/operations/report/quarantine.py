"""What the report says of quarantine: rows by table and reason, and when, never the rows themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations
from lakehouse.quality.quarantine import LAYER, table_of
from lakehouse.query import ANSWER, open_query
from lakehouse.storage.sql import qualified

if TYPE_CHECKING:
    from lakehouse.settings import Settings


@dataclass(frozen=True)
class Reason:
    """A rule, and what broke it.

    Args:
        columns: to blame.
        rows: that are not in the table.
        values: in whose place the table has null.
    """

    rule: str
    columns: str
    rows: int
    values: int


@dataclass(frozen=True)
class HeldRows:
    """What quarantine holds of one table.

    Args:
        by_day: rows and values by partition, or by the day they were set aside where there are none.
        by_partition: whether `by_day` is by partition.
    """

    table: str
    reasons: Sequence[Reason]
    by_day: Sequence[tuple[date, int]]
    by_partition: bool

    @property
    def rows(self) -> int:
        """Rows that are not in the table."""
        return sum(reason.rows for reason in self.reasons)

    @property
    def values(self) -> int:
        """Values in whose place the table has null."""
        return sum(reason.values for reason in self.reasons)


def held_rows(settings: "Settings") -> list[HeldRows]:
    """What quarantine holds of each table, the most rows first.

    Raises:
        QueryError: a table of quarantine cannot be read.
    """
    known = metadata_locations(settings)
    names = [name for key, (name, _) in known.items() if key.startswith(f"{LAYER}.")]
    held = [_held(settings, name) for name in names]
    return sorted((one for one in held if one.reasons), key=lambda one: -one.rows - one.values)


def _held(settings: "Settings", name: str) -> HeldRows:
    source = qualified(name)
    reasons = open_query(
        settings,
        "select coalesce(rule, 'unknown') as rule,"
        " coalesce(string_agg(distinct column_name, ', ' order by column_name), '') as columns,"
        " count(*) filter (scope = 'row') as rows, count(*) filter (scope <> 'row') as single"
        f" from {source} group by rule order by count(*) desc, rule",
    )
    days = open_query(
        settings,
        "select coalesce(partition, cast(quarantined_at as date)) as day, count(*) as rows,"
        f" bool_and(partition is not null) as by_partition from {source} group by 1 order by 1",
    )
    found = days.execute(f"from {ANSWER}").fetchall()
    return HeldRows(
        table_of(name),
        [Reason(*row) for row in reasons.execute(f"from {ANSWER}").fetchall()],
        [(day, rows) for day, rows, _ in found if day is not None],
        all(by_partition for _, _, by_partition in found),
    )
