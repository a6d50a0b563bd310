"""How a table's schema follows its rows: what is added, widened, kept or refused."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyiceberg.schema import Schema
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    PrimitiveType,
    StructType,
)

from lakehouse.storage.errors import SchemaConflictError
from lakehouse.storage.partitioning import refuse_other_partitioning, repartition

if TYPE_CHECKING:
    from pyiceberg.table import Transaction

    from lakehouse.storage.tables import TableSpec


def fits(narrow: IcebergType, wide: IcebergType) -> bool:
    """Whether every value of one type is a value of the other (Iceberg's promotions).

    PyIceberg's own `promote` lets a decimal change its scale, which would change values. Nested
    types are compared by name, whatever their field ids.
    """
    match narrow, wide:
        case StructType(), StructType():
            held = {field.name: field.field_type for field in wide.fields}
            return all(f.name in held and fits(f.field_type, held[f.name]) for f in narrow.fields)
        case ListType(), ListType():
            return fits(narrow.element_type, wide.element_type)
        case MapType(), MapType():
            return fits(narrow.key_type, wide.key_type) and fits(narrow.value_type, wide.value_type)
        case DecimalType(), DecimalType():
            return narrow.scale == wide.scale and narrow.precision <= wide.precision
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
    return narrow == wide


def evolve(transaction: "Transaction", incoming: Schema, spec: "TableSpec") -> Schema:
    """Let the table hold the incoming rows: add new columns, widen where nothing is lost.

    Columns the rows lack stay and read null. Returns the schema as it will be after the commit.

    Raises:
        SchemaConflictError: a column changed to a type that does not fit, or differs from an
            existing one by case alone; or the table is partitioned in another way.
    """
    refuse_other_partitioning(transaction.table_metadata, spec)
    current = transaction.table_metadata.schema()
    _refuse_case_twins(current, incoming, spec.name)
    for field in incoming.fields:
        if field.name in current.column_names:
            _refuse_misfit(field.name, current.find_type(field.name), field.field_type, spec.name)
    required = [field.name for field in current.fields if field.required]
    if _covers(current, incoming) and not required:
        return current
    with transaction.update_schema() as update:
        update.union_by_name(incoming)
        for name in required:  # of another tool's making: our rows may lack any column
            update.make_column_optional(name)
    return transaction.table_metadata.schema()


def become(transaction: "Transaction", incoming: Schema, spec: "TableSpec") -> Schema:
    """Let the table have exactly the incoming columns, for a write that replaces every row.

    The partitioning follows the spec.

    A column whose type no longer fits is dropped and added anew (with a new id, so that old
    values never appear in it); one the rows lack is dropped.

    Raises:
        SchemaConflictError: a column would have to be dropped by which the table is or was partitioned.
    """
    repartition(transaction, spec)
    current = transaction.table_metadata.schema()
    _refuse_case_twins(current, incoming, spec.name)
    wanted = {field.name: field.field_type for field in incoming.fields}
    dropped = [
        field.name
        for field in current.fields
        if field.name not in wanted or not _can_stay(field.field_type, wanted[field.name])
    ]
    specs = transaction.table_metadata.specs().values()
    partition_sources = {field.source_id for partitioning in specs for field in partitioning.fields}
    for name in dropped:
        if current.find_field(name).field_id in partition_sources:
            raise SchemaConflictError(
                f"{spec.name} is or was partitioned by {name}, which the new rows lack "
                "or bring with another type. Keep the column, or drop the table first."
            )
    if dropped:
        with transaction.update_schema(allow_incompatible_changes=True) as update:
            for name in dropped:
                update.delete_column(name)
            for field in incoming.fields:
                if field.name in dropped:
                    update.add_column(field.name, field.field_type)
    return evolve(transaction, incoming, spec)


def _can_stay(current: IcebergType, wanted: IcebergType) -> bool:
    """Whether a column becomes the wanted one; a wider one stays, but not a struct with more fields."""
    return fits(current, wanted) or (isinstance(current, PrimitiveType) and fits(wanted, current))


def _covers(current: Schema, incoming: Schema) -> bool:
    """Whether the table needs no change to hold the rows."""
    return all(
        field.name in current.column_names and fits(field.field_type, current.find_type(field.name))
        for field in incoming.fields
    )


def _refuse_case_twins(current: Schema, incoming: Schema, table: str) -> None:
    """Names that differ by case alone read as one column in DuckDB and as two in PyIceberg."""
    existing = {field.name.lower(): field.name for field in current.fields}
    for field in incoming.fields:
        twin = existing.setdefault(field.name.lower(), field.name)
        if twin != field.name:
            raise SchemaConflictError(
                f"{table} has a column {twin}; the new rows bring {field.name}. "
                "Rename one of them: the two differ by case alone."
            )


def _refuse_misfit(column: str, current: IcebergType, incoming: IcebergType, table: str) -> None:
    """A changed type is refused unless it is narrower (cast up) or a lossless widening."""
    for path, old, new in _misfits(column, current, incoming):
        raise SchemaConflictError(
            f"{table}.{path} is {old}, but the new rows bring {new}. "
            f"Cast the column back, or give it another name."
        )


def _misfits(
    path: str, current: IcebergType, incoming: IcebergType
) -> Iterator[tuple[str, IcebergType, IcebergType]]:
    """Where neither of two types holds the other, down to the fields of nested ones."""
    match current, incoming:
        case StructType(), StructType():
            held = {field.name: field.field_type for field in current.fields}
            for field in incoming.fields:
                if field.name in held:
                    yield from _misfits(f"{path}.{field.name}", held[field.name], field.field_type)
        case ListType(), ListType():
            yield from _misfits(f"{path}[]", current.element_type, incoming.element_type)
        case MapType(), MapType():
            if not fits(incoming.key_type, current.key_type):  # Iceberg never changes a map's keys
                yield f"{path} (keys)", current.key_type, incoming.key_type
            yield from _misfits(f"{path} (values)", current.value_type, incoming.value_type)
        case _:
            if not fits(current, incoming) and not fits(incoming, current):
                yield path, current, incoming
