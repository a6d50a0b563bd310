"""Reading chosen data files of a table, by field id: right after renames, widening and drop-and-add."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakehouse.storage.sql import literal
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


def read_files(files: Sequence["DataFile"], schema: "Schema", columns: Sequence[str] | None = None) -> str:
    """A DuckDB table function over data files, with the columns and types of the table's schema.

    Args:
        columns: which ones, None for all; the column `filename` is there besides.
    """
    fields = [field for field in schema.fields if columns is None or field.name in columns]
    mapping = ", ".join(
        f"{field.field_id}: {{name: {literal(field.name)}, type: {literal(to_duckdb_name(field.field_type))},"
        " default_value: null}"
        for field in fields
    )
    paths = ", ".join(literal(file.file_path) for file in files)
    return f"read_parquet([{paths}], schema = map {{{mapping}}}, filename = true)"


def files_that_may_hold(table: "Table | None", rows: "BooleanExpression") -> list["DataFile"]:
    """The files that the statistics do not rule out."""
    if table is None:
        return []
    return [task.file for task in table.scan(row_filter=rows).plan_files()]
