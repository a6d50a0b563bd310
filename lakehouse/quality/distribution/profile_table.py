"""`ops.profiles`: the profiles of all partitions that are published, one row a column.

Another table's profiles of the same days are other rows. Those of a partition that is published again
take the place of what was there, so that a table's are always those of its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from pyiceberg.expressions import And, BooleanExpression, EqualTo, GreaterThanOrEqual, LessThanOrEqual

from lakehouse.quality.distribution.profile import PartitionProfile
from lakehouse.quality.distribution.profile_rows import COLUMNS, ProfileRows, profiles_of, rows_of
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.data_files import files_that_may_hold, read_files
from lakehouse.storage.replacing import replace_rows
from lakehouse.storage.sql import literal
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

NAME = "ops.profiles"
_KEPT = tuple(name for name in COLUMNS if name not in ("table_name", "snapshot_id", "run_id", "profiled_at"))


@dataclass(frozen=True)
class Span:
    """Some partitions of a table.

    Args:
        first, last: both included; None: there is no such end.
        days: which of them; None: all.
    """

    first: date | None = None
    last: date | None = None
    days: Sequence[date] | None = None

    def sql(self, table: str) -> str:
        """The condition that a row of `ops.profiles` is of one of them."""
        condition = f"table_name = {literal(table)}"
        condition += f" and partition >= date {literal(self.first)}" if self.first else ""
        condition += f" and partition <= date {literal(self.last)}" if self.last else ""
        if self.days is None:
            return condition
        among = ", ".join(f"date {literal(day)}" for day in self.days)
        return f"{condition} and partition in ({among})"

    def expression(self, table: str) -> BooleanExpression:
        """One that is true at least of these rows."""
        where: BooleanExpression = EqualTo(term="table_name", value=table)
        if self.first:
            where = And(where, GreaterThanOrEqual(term="partition", value=self.first.isoformat()))
        if self.last:
            where = And(where, LessThanOrEqual(term="partition", value=self.last.isoformat()))
        return where


EVERY = Span()


def span_of(days: Sequence[date] | None) -> Span:
    """These partitions, of which there is one at least; None: all that there are."""
    return EVERY if days is None else Span(min(days), max(days), days)


@dataclass(frozen=True)
class ProfileTable:
    """The profiles of one table.

    Args:
        table: `layer.table`.
    """

    catalog: "Catalog"
    table: str
    keep_snapshots: int

    @property
    def spec(self) -> TableSpec:
        """The table that holds all profiles; sorted, so that a table's are found without reading the rest."""
        return TableSpec(
            NAME, sort_by=("table_name", "partition", "column_name"), keep_snapshots=self.keep_snapshots
        )

    def read(self, connection: "DuckDBPyConnection", span: Span = EVERY) -> dict[date, PartitionProfile]:
        """The profiles of these partitions, as far as there are any.

        Raises:
            duckdb.Error: the table's files cannot be read.
        """
        held = load_table(self.catalog, NAME)
        files = files_that_may_hold(held, span.expression(self.table))
        if held is None or not files:
            return {}
        rows = connection.execute(
            f"select {', '.join(_KEPT)} from {read_files(held, files, held.schema())}"
            f" where {span.sql(self.table)} order by partition, column_name"
        ).fetchall()
        return profiles_of(dict(zip(_KEPT, row, strict=True)) for row in rows)

    def replace(
        self,
        connection: "DuckDBPyConnection",
        profiles: Sequence[PartitionProfile],
        span: Span,
        run_id: str,
        snapshot_id: int | None,
    ) -> None:
        """Let these be the profiles of the partitions of a span, as one commit.

        Args:
            span: what the profiles of go, whether others come or not.

        Raises:
            StorageError, duckdb.Error: nothing was changed.
        """
        if not profiles and load_table(self.catalog, NAME) is None:
            return
        source = ProfileRows(connection, self._rows(profiles, run_id, snapshot_id))
        gone, where = span.sql(self.table), span.expression(self.table)
        replace_rows(self.catalog, self.spec, source, gone, where, {RUN_ID: run_id})

    def _rows(
        self, profiles: Sequence[PartitionProfile], run_id: str, snapshot_id: int | None
    ) -> list[dict[str, Any]]:
        at = datetime.now(UTC)
        return [
            {
                "table_name": self.table,
                "partition": profile.partition,
                "rows": profile.rows,
                "snapshot_id": snapshot_id,
                "run_id": run_id,
                "profiled_at": at,
                **row,
            }
            for profile in profiles
            for row in rows_of(profile)
        ]
