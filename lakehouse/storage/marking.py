"""Marking rows of a table: files that hold any of them are written again with the mark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysFalse
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

from lakehouse.storage.commit import Write
from lakehouse.storage.data_files import files_with, read_files
from lakehouse.storage.removal import NoRows
from lakehouse.storage.schema import evolve
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staged_write import StagedWrite
from lakehouse.storage.staging import stage
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


def mark_rows(
    catalog: "Catalog",
    spec: TableSpec,
    connection: "DuckDBPyConnection",
    column: str,
    value: str,
    where: str,
    summary: Mapping[str, str] | None = None,
) -> None:
    """Set a text column, which the table need not have yet, of the rows that meet a SQL condition.

    It is one commit, and none if no row meets it.

    Raises:
        StorageError, duckdb.Error: nothing was changed.
    """
    table = load_table(catalog, spec.name)
    if table is None:
        return
    fields = table.schema().fields
    if column not in table.schema().column_names:
        new = max((field.field_id for field in fields), default=0) + 1
        fields = (*fields, NestedField(new, column, StringType(), required=False))
    marker = Marker(spec, NoRows(connection, Schema(*fields)), column, value, where)
    Write(catalog, spec, marker, evolve, AlwaysFalse(), summary or {}, "mark_rows").run()


@dataclass(frozen=True)
class Marker:
    """Stages the touched files with the mark, against the table as it is."""

    spec: TableSpec
    source: NoRows
    column: str
    value: str
    where: str
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write all rows of the files that hold some that meet the condition.

        Raises:
            duckdb.Error: nothing was written.
        """
        connection = self.source.connection
        touched = files_with(base, schema, self.where, connection) if base is not None else []
        if base is None or not touched:
            return StagedWrite([], None, {}, removed=[], merged=0)
        marked = f"case when {self.where} then {literal(self.value)} else {identifier(self.column)} end"
        columns = ", ".join(
            f"{marked} as {identifier(field.name)}" if field.name == self.column else identifier(field.name)
            for field in schema.fields
        )
        rows = f"select {columns} from {read_files(base, touched, schema)}"
        files = stage(connection, rows, schema, location, partition_by=self.spec.partition_by)
        return StagedWrite(files, None, {}, removed=touched, merged=0)
