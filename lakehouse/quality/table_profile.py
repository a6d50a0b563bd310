"""What the rows of a table show of its columns: their types, nulls and few values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.quality.errors import ContractError
from lakehouse.quality.gates import rows_by_partition
from lakehouse.quality.pii_names import suggested_pii
from lakehouse.storage.errors import reason
from lakehouse.storage.scan import pin_current, table_name
from lakehouse.storage.sql import identifier, qualified
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.table import Table

FEW_VALUES = 20
LONGEST_VALUE = 40  # characters; beyond, it is a text and no code
ROWS_PER_VALUE = 10  # fewer, and the next rows may well bring others
_ABOUT_FEW = FEW_VALUES + 5  # the count is an estimate


@dataclass(frozen=True)
class ColumnProfile:
    """A column and what its rows show.

    Args:
        type: as a contract writes it.
        distinct: about how many values there are.
        values: all of them, if it is a text of few.
    """

    name: str
    type: str
    nulls: int = 0
    distinct: int = 0
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableProfile:
    """A table and what its rows show.

    Args:
        partition_by: the column whose values are the partitions.
        partitions: their rows.
    """

    table: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    partition_by: str | None = None
    partitions: Mapping[date, int] = field(default_factory=dict)


def read_profile(
    connection: "DuckDBPyConnection", table: "Table", passed_over: Sequence[str]
) -> TableProfile:
    """Look at all rows once, and once more for the values of columns with few.

    Args:
        connection: one that can read Iceberg; the table's name becomes a view on it.
        passed_over: columns to leave out.

    Raises:
        ContractError: the table's files cannot be read.
        UnsupportedTypeError: a column has a type that DuckDB does not write.
    """
    import duckdb

    name, schema = table_name(table), table.schema()
    types = {
        column.name: to_duckdb_name(column.field_type, column.name).replace(
            "timestamp with time zone", "timestamptz"
        )
        for column in schema.fields
        if column.name not in passed_over
    }
    sources = [schema.find_column_name(part.source_id) for part in table.spec().fields]
    try:
        pin_current(connection, table)
        rows, columns = _count(connection, name, types)
        columns = _with_values(connection, name, rows, columns)
    except duckdb.Error as error:
        raise ContractError(f"{name} cannot be read: {reason(error)}") from error
    return TableProfile(name, rows, columns, sources[0] if sources else None, rows_by_partition(table))


def _count(
    connection: "DuckDBPyConnection", table: str, types: Mapping[str, str]
) -> tuple[int, tuple[ColumnProfile, ...]]:
    """The rows, and each column with its nulls and about how many values it has."""
    asked = ", ".join(
        f"count({identifier(name)}), approx_count_distinct({identifier(name)})" for name in types
    )
    query = f"select count(*){', ' * bool(types)}{asked} from {qualified(table)}"
    [(rows, *counted)] = connection.execute(query).fetchall()
    return rows, tuple(
        ColumnProfile(name, types[name], rows - there, distinct)
        for name, there, distinct in zip(types, counted[::2], counted[1::2], strict=True)
    )


def _with_values(
    connection: "DuckDBPyConnection", table: str, rows: int, columns: Sequence[ColumnProfile]
) -> tuple[ColumnProfile, ...]:
    """The columns, those of few values with them; a person's are not for a file that is checked in."""
    few = [
        column.name
        for column in columns
        if column.type == "varchar" and column.distinct <= _ABOUT_FEW and not suggested_pii(column.name)
    ]
    if not few:
        return tuple(columns)
    lists = ", ".join(
        f"list_sort(list(distinct {identifier(name)}) filter ({identifier(name)} is not null))"
        for name in few
    )
    [found] = connection.execute(f"select {lists} from {qualified(table)}").fetchall()
    values = dict(zip(few, found, strict=True))
    return tuple(
        replace(column, distinct=len(said), values=tuple(said)) if _are_codes(said, rows) else column
        for column in columns
        for said in [values.get(column.name) or []]
    )


def _are_codes(values: Sequence[str], rows: int) -> bool:
    return (
        0 < len(values) <= FEW_VALUES
        and len(values) * ROWS_PER_VALUE <= rows
        and all(len(value) <= LONGEST_VALUE for value in values)
    )
