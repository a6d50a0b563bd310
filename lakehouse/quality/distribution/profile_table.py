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
from lakehouse.quality.distribution.profile_rows import ProfileRows, profiles_of, rows_of
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.data_files import files_that_may_hold, read_files
from lakehouse.storage.replacing import replace_rows
from lakehouse.storage.sql import literal
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

NAME = "ops.profiles"
_KEPT = ("partition", "column_name", "kind", "rows", "nulls", "distinct_values", "mean", "stddev")
_LISTS = ("quantiles", "points", "labels", "counts", "other", "exact")


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

    def read(
        self, connection: "DuckDBPyConnection", first: date | None = None, last: date | None = None
    ) -> dict[date, PartitionProfile]:
        """The profiles of the partitions from `first` to `last`, both included.

        Raises:
            duckdb.Error: the table's files cannot be read.
        """
        held = load_table(self.catalog, NAME)
        files = files_that_may_hold(held, self._where(first, last))
        if held is None or not files:
            return {}
        rows = connection.execute(
            f"select {', '.join((*_KEPT, *_LISTS))} from {read_files(held, files, held.schema())}"
            f" where {self._condition(first, last)} order by partition, column_name"
        ).fetchall()
        return profiles_of(dict(zip((*_KEPT, *_LISTS), row, strict=True)) for row in rows)

    def replace(
        self,
        connection: "DuckDBPyConnection",
        profiles: Sequence[PartitionProfile],
        gone: Sequence[date] | None,
        run_id: str,
        snapshot_id: int | None,
    ) -> None:
        """Let these be the profiles of the partitions that were published, as one commit.

        Args:
            gone: the partitions whose profiles go; None: all of the table.

        Raises:
            StorageError, duckdb.Error: nothing was changed.
        """
        if not profiles and load_table(self.catalog, NAME) is None:
            return
        source = ProfileRows(connection, self._rows(profiles, run_id, snapshot_id))
        first, last = (min(gone), max(gone)) if gone else (None, None)
        condition = self._condition(first, last)
        if gone:
            condition += f" and partition in ({', '.join(f'date {literal(day)}' for day in gone)})"
        replace_rows(self.catalog, self.spec, source, condition, self._where(first, last), {RUN_ID: run_id})

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

    def _condition(self, first: date | None, last: date | None) -> str:
        condition = f"table_name = {literal(self.table)}"
        condition += f" and partition >= date {literal(first)}" if first else ""
        return condition + (f" and partition <= date {literal(last)}" if last else "")

    def _where(self, first: date | None, last: date | None) -> BooleanExpression:
        where: BooleanExpression = EqualTo(term="table_name", value=self.table)
        if first:
            where = And(where, GreaterThanOrEqual(term="partition", value=first.isoformat()))
        return And(where, LessThanOrEqual(term="partition", value=last.isoformat())) if last else where
