"""Reading chosen data files of a table, by field id: right after renames, widening and drop-and-add."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysTrue

from lakehouse.storage.scan import iceberg_scan
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.types import NestedField


def read_files(
    table: "Table", files: Sequence["DataFile"], schema: "Schema", columns: Sequence[str] | None = None
) -> str:
    """A DuckDB table expression over data files of a table.

    Args:
        schema: the columns and types to read them with, the table's or what it is about to become.
        columns: which ones, None for all; the column `filename` is there besides.
    """
    fields = [field for field in schema.fields if columns is None or field.name in columns]
    paths = ", ".join(literal(file.file_path) for file in files)
    if not all(field.field_type.is_primitive for field in fields):
        return _scan_files(table, paths, fields)
    mapping = ", ".join(
        f"{field.field_id}: {{name: {literal(field.name)},"
        f" type: {literal(to_duckdb_name(field.field_type, field.name))}, default_value: null}}"
        for field in fields
    )
    return f"read_parquet([{paths}], schema = map {{{mapping}}}, filename = true, hive_partitioning = false)"


def read_rest(table: "Table", files: Sequence["DataFile"], schema: "Schema", gone: str) -> str:
    """A DuckDB query of what stays of data files without the rows for which a SQL condition is true."""
    columns = ", ".join(identifier(field.name) for field in schema.fields)
    return f"select {columns} from {read_files(table, files, schema)} where ({gone}) is not true"


def _scan_files(table: "Table", paths: str, fields: Sequence["NestedField"]) -> str:
    """Through the Iceberg reader, for `read_parquet` takes no field ids of what is inside a column."""
    names = {field.field_id: field.name for field in table.schema().fields}
    columns = ", ".join(
        f"cast({identifier(names[field.field_id]) if field.field_id in names else 'null'}"
        f" as {to_duckdb_name(field.field_type)}) as {identifier(field.name)}"
        for field in fields
    )
    # Not pinned: that would read it with the columns of its snapshot, which may have been renamed since.
    source = iceberg_scan(table.metadata_location, None)
    return f"(select {columns}, filename from {source} where filename in ({paths}))"


def files_that_may_hold(table: "Table | None", rows: "BooleanExpression") -> list["DataFile"]:
    """The files that the statistics do not rule out."""
    if table is None:
        return []
    return [task.file for task in table.scan(row_filter=rows).plan_files()]


def files_with(
    table: "Table", schema: "Schema", condition: str, connection: "DuckDBPyConnection"
) -> list["DataFile"]:
    """The files that hold a row for which a SQL condition is true.

    Raises:
        duckdb.Error: the condition cannot be evaluated.
    """
    files = files_that_may_hold(table, AlwaysTrue())
    if not files:
        return []
    hits = connection.execute(
        f"select distinct filename from {read_files(table, files, schema)} where {condition}"
    ).fetchall()
    paths = {path for (path,) in hits}
    return [file for file in files if file.file_path in paths]
