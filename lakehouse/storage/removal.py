"""Taking rows out of a table by a condition: files that hold any are written again without them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysFalse

from lakehouse.storage.commit import Write
from lakehouse.storage.data_files import files_with, read_rest
from lakehouse.storage.schema import evolve
from lakehouse.storage.sql import identifier
from lakehouse.storage.staged_write import StagedWrite
from lakehouse.storage.staging import stage
from lakehouse.storage.tables import TableSpec, load_table
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


def remove_rows(
    catalog: "Catalog",
    spec: TableSpec,
    connection: "DuckDBPyConnection",
    gone: str,
    summary: Mapping[str, str] | None = None,
) -> None:
    """Take out the rows for which a SQL condition is true, in one commit; none if there are none.

    Raises:
        StorageError, duckdb.Error: nothing was changed.
    """
    table = load_table(catalog, spec.name)
    if table is None:
        return
    remover = Remover(spec, NoRows(connection, table.schema()), gone)
    Write(catalog, spec, remover, evolve, AlwaysFalse(), summary or {}, "remove_rows").run()


@dataclass(frozen=True)
class Remover:
    """Stages what the touched files hold besides, against the table as it is."""

    spec: TableSpec
    source: "NoRows"
    gone: str
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the rows that stay of the files that hold some that go.

        Raises:
            duckdb.Error: nothing was written.
        """
        touched = files_with(base, schema, self.gone, self.source.connection) if base is not None else []
        if base is None or not touched:
            return StagedWrite([], None, {}, removed=[], merged=0)
        rows = read_rest(base, touched, schema, self.gone)
        files = stage(self.source.connection, rows, schema, location, partition_by=self.spec.partition_by)
        return StagedWrite(files, None, {}, removed=touched, merged=0)


@dataclass(frozen=True)
class NoRows:
    """No rows, with a table's columns."""

    connection: "DuckDBPyConnection"
    schema: "Schema"

    def query(self, partitions: Sequence[date] | None) -> str:
        """The columns."""
        columns = ", ".join(
            f"cast(null as {to_duckdb_name(field.field_type)}) as {identifier(field.name)}"
            for field in self.schema.fields
        )
        return f"select {columns} where false"
