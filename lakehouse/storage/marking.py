"""Marking rows of a table: files that hold any of them are written again with the mark."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

from lakehouse.storage.data_files import read_files
from lakehouse.storage.rewriting import NoRows, Rewriter, rewrite
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
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

    def marked(base: "Table", files: "Sequence[DataFile]", schema: Schema) -> str:
        mark = (
            f"case when {where} then {literal(value)} else {identifier(column)} end as {identifier(column)}"
        )
        columns = [mark if field.name == column else identifier(field.name) for field in schema.fields]
        return f"select {', '.join(columns)} from {read_files(base, files, schema)}"

    rewriter = Rewriter(spec, NoRows(connection, Schema(*fields)), where, marked)
    rewrite(catalog, rewriter, summary, "mark_rows")
