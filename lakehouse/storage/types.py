"""DuckDB types to Iceberg types, and the field ids that DuckDB writes into Parquet.

Iceberg has fewer types than DuckDB: what fits into a wider one without loss is cast, the rest
is refused by column name.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from lakehouse.storage.errors import UnsupportedTypeError
from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

SIMPLE_TYPES: dict[str, PrimitiveType] = {
    "boolean": BooleanType(),
    "tinyint": IntegerType(),
    "smallint": IntegerType(),
    "integer": IntegerType(),
    "utinyint": IntegerType(),
    "usmallint": IntegerType(),
    "uinteger": LongType(),
    "bigint": LongType(),
    "ubigint": DecimalType(20, 0),  # the largest unsigned 64-bit number has 20 digits
    "hugeint": DecimalType(38, 0),  # what sum() of integers gives; a longer number fails the cast
    "float": FloatType(),
    "double": DoubleType(),
    "varchar": StringType(),
    "enum": StringType(),
    "json": StringType(),
    "blob": BinaryType(),
    "date": DateType(),
    "time": TimeType(),
    "timestamp": TimestampType(),
    "timestamp_s": TimestampType(),
    "timestamp_ms": TimestampType(),
    "timestamp with time zone": TimestamptzType(),
    "uuid": UUIDType(),
    '"null"': StringType(),  # a column that is null in every row so far
}

NESTED_TYPES = ("list", "array", "struct", "map")

DUCKDB_NAMES: dict[type[IcebergType], str] = {
    BooleanType: "boolean",
    IntegerType: "integer",
    LongType: "bigint",
    FloatType: "float",
    DoubleType: "double",
    StringType: "varchar",
    BinaryType: "blob",
    DateType: "date",
    TimeType: "time",
    TimestampType: "timestamp",
    TimestamptzType: "timestamp with time zone",
    UUIDType: "uuid",
}


def describe(connection: "DuckDBPyConnection", query: str) -> dict[str, "DuckDBPyType"]:
    """Column names and DuckDB types of a query, without running it."""
    relation = connection.sql(query)
    return dict(zip(relation.columns, relation.types, strict=True))


def to_iceberg_schema(columns: dict[str, "DuckDBPyType"]) -> Schema:
    """An Iceberg schema with provisional ids: the table assigns the ids that stay.

    Raises:
        UnsupportedTypeError: naming the column.
    """
    ids = iter(range(1, 100_000))
    fields = [
        NestedField(next(ids), name, to_iceberg_type(name, kind, ids), required=False)
        for name, kind in columns.items()
    ]
    return Schema(*fields)


def to_iceberg_type(column: str, kind: "DuckDBPyType", ids: Iterator[int]) -> IcebergType:
    """The Iceberg type that holds every value of a DuckDB type."""
    name = kind.id if kind.id in (*NESTED_TYPES, "decimal", "enum") else str(kind).lower()
    if name in SIMPLE_TYPES:
        return SIMPLE_TYPES[name]
    children: dict[str, Any] = dict(kind.children) if name in (*NESTED_TYPES, "decimal") else {}
    match name:
        case "decimal":
            return DecimalType(children["precision"], children["scale"])
        case "list" | "array":
            return ListType(
                next(ids), to_iceberg_type(f"{column}[]", children["child"], ids), element_required=False
            )
        case "struct":
            return StructType(
                *(
                    NestedField(next(ids), child, to_iceberg_type(f"{column}.{child}", child_kind, ids))
                    for child, child_kind in children.items()
                )
            )
        case "map":
            return MapType(
                next(ids),
                to_iceberg_type(f"{column} (keys)", children["key"], ids),
                next(ids),
                to_iceberg_type(f"{column} (values)", children["value"], ids),
                value_required=False,
            )
        case _:
            raise UnsupportedTypeError(
                f"Column {column} has type {kind}, which Iceberg cannot hold without loss. "
                "Cast it in the query, for example to varchar or to a decimal with a precision."
            )


def to_duckdb_name(kind: IcebergType, column: str = "") -> str:
    """How DuckDB writes an Iceberg type in a cast.

    Raises:
        UnsupportedTypeError: it has no such type; naming the column.
    """
    if isinstance(kind, DecimalType):
        return f"decimal({kind.precision}, {kind.scale})"
    if isinstance(kind, ListType):
        return f"{to_duckdb_name(kind.element_type, column)}[]"
    if isinstance(kind, MapType):
        return f"map({to_duckdb_name(kind.key_type, column)}, {to_duckdb_name(kind.value_type, column)})"
    if isinstance(kind, StructType):
        fields = ", ".join(
            f"{identifier(f.name)} {to_duckdb_name(f.field_type, f'{column}.{f.name}')}" for f in kind.fields
        )
        return f"struct({fields})"
    if type(kind) not in DUCKDB_NAMES:
        raise UnsupportedTypeError(
            f"Column {column} of the table has type {kind}, which DuckDB does not write. Another tool "
            "made it: drop the column there, or write the table with that tool."
        )
    return DUCKDB_NAMES[type(kind)]


def field_ids(schema: Schema) -> str:
    """The value of DuckDB's `field_ids` option for a file of this schema."""
    return "{" + ", ".join(_field_id(f.name, f.field_id, f.field_type) for f in schema.fields) + "}"


def _field_id(name: str, field_id: int, kind: IcebergType) -> str:
    """One entry of `field_ids`; nested types carry their own id beside their children's."""
    children: list[str] = []
    if isinstance(kind, StructType):
        children = [_field_id(f.name, f.field_id, f.field_type) for f in kind.fields]
    elif isinstance(kind, ListType):
        children = [_field_id("element", kind.element_id, kind.element_type)]
    elif isinstance(kind, MapType):
        children = [
            _field_id("key", kind.key_id, kind.key_type),
            _field_id("value", kind.value_id, kind.value_type),
        ]
    if not children:
        return f"{literal(name)}: {field_id}"
    return f"{literal(name)}: {{__duckdb_field_id: {field_id}, {', '.join(children)}}}"
