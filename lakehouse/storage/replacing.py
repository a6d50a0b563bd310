"""Replacing the rows of a condition by others, in one commit: for tables without a key or partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysFalse, BooleanExpression

from lakehouse.storage.commit import Write
from lakehouse.storage.data_files import files_that_may_hold, read_rest
from lakehouse.storage.schema import evolve
from lakehouse.storage.staged_write import StagedWrite
from lakehouse.storage.staging import RowSource, select_as, stage
from lakehouse.storage.tables import TableSpec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


@dataclass(frozen=True)
class Replacer:
    """Stages new rows, and what stays of the files that may hold the old ones.

    Args:
        source: the new rows.
        gone: SQL of the condition that the old rows meet.
        where: no file that its statistics rule out by this is looked at.
    """

    spec: TableSpec
    source: RowSource
    gone: str
    where: BooleanExpression
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the rows as files.

        Raises:
            duckdb.Error: nothing was written.
        """
        rows = select_as(self.source.query(None), schema, present)
        files = files_that_may_hold(base, self.where)
        if base is not None and files:
            rows = f"{read_rest(base, files, schema, self.gone)} union all {rows}"
        staged = stage(self.source.connection, rows, schema, location, sort_by=self.spec.sort_by)
        return StagedWrite(staged, None, {}, removed=files, merged=sum(file.rows for file in staged))


def replace_rows(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    gone: str,
    where: BooleanExpression,
    summary: Mapping[str, str] | None = None,
) -> None:
    """Take out the rows that meet a condition and put the source's in, as one commit.

    Args:
        gone: the condition as SQL, for DuckDB.
        where: one that is true at least of these rows, for PyIceberg to find their files.

    Raises:
        StorageError, duckdb.Error: nothing was changed.
    """
    replacer = Replacer(spec, source, gone, where)
    Write(catalog, spec, replacer, evolve, AlwaysFalse(), summary or {}, "replace_rows").run()
