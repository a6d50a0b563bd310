"""Writing files of a table again: those that hold a row of some condition, in one commit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysFalse

from lakehouse.storage.commit import Write
from lakehouse.storage.data_files import files_with
from lakehouse.storage.schema import evolve
from lakehouse.storage.sql import identifier
from lakehouse.storage.staged_write import StagedWrite
from lakehouse.storage.staging import stage
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


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


@dataclass(frozen=True)
class Rewriter:
    """Stages what the touched files are to hold, against the table as it is.

    Args:
        source: no rows, with the columns that the table is to have.
        touched: SQL of the condition; a file that holds a row that meets it is written again.
        rows: SQL of what takes the place of all rows of these files.
    """

    spec: TableSpec
    source: NoRows
    touched: str
    rows: "Callable[[Table, Sequence[DataFile], Schema], str]"
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the files that take the touched ones' place.

        Raises:
            duckdb.Error: nothing was written.
        """
        connection = self.source.connection
        files = files_with(base, schema, self.touched, connection) if base is not None else []
        if base is None or not files:
            return StagedWrite([], None, {}, removed=[], merged=0)
        rows = self.rows(base, files, schema)
        staged = stage(connection, rows, schema, location, partition_by=self.spec.partition_by)
        return StagedWrite(staged, None, {}, removed=files, merged=0)


def rewrite(catalog: "Catalog", rewriter: Rewriter, summary: Mapping[str, str] | None, strategy: str) -> None:
    """Publish what a rewriter stages; nothing if it touches no file.

    Raises:
        StorageError, duckdb.Error: nothing was changed.
    """
    Write(catalog, rewriter.spec, rewriter, evolve, AlwaysFalse(), summary or {}, strategy).run()
