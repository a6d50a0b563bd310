"""DuckDB types as Iceberg types, and the field ids of a file."""

import duckdb
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, ListType, MapType, NestedField, StringType, StructType

from lakehouse.storage.errors import UnsupportedTypeError
from lakehouse.storage.types import describe, field_ids, to_duckdb_name, to_iceberg_schema


@pytest.mark.parametrize(
    ("sql", "iceberg"),
    [
        ("1::tinyint", "int"),
        ("1::uinteger", "long"),
        ("1::ubigint", "decimal(20, 0)"),
        ("sum(1)", "decimal(38, 0)"),
        ("1.5::decimal(7, 3)", "decimal(7, 3)"),
        ("'a'::enum('a')", "string"),
        ("now()", "timestamptz"),
        ("timestamp_s '2013-01-01 00:00:00'", "timestamp"),
        ("'{}'::json", "string"),
        ("[1]", "list<int>"),
        ("map {'k': [1]}", "map<string, list<int>>"),
    ],
)
def test_types(connection: duckdb.DuckDBPyConnection, sql: str, iceberg: str) -> None:
    schema = to_iceberg_schema(describe(connection, f"select {sql} as x"))
    assert str(schema.find_type("x")) == iceberg


def test_an_unsupported_type_names_the_nested_column(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"Column x\.a\[\] has type INTERVAL"):
        to_iceberg_schema(describe(connection, "select {'a': [interval 1 day]} as x"))


def test_field_ids_reach_down_to_nested_columns() -> None:
    schema = Schema(
        NestedField(1, "it's", IntegerType()),
        NestedField(2, "s", StructType(NestedField(3, "a", IntegerType()))),
        NestedField(4, "l", ListType(5, IntegerType())),
        NestedField(6, "m", MapType(7, StringType(), 8, IntegerType())),
    )
    assert field_ids(schema) == (
        "{'it''s': 1, 's': {__duckdb_field_id: 2, 'a': 3}, 'l': {__duckdb_field_id: 4, 'element': 5},"
        " 'm': {__duckdb_field_id: 6, 'key': 7, 'value': 8}}"
    )
    assert to_duckdb_name(schema.find_type("s")) == 'struct("a" integer)'
    assert to_duckdb_name(schema.find_type("m")) == "map(varchar, integer)"
