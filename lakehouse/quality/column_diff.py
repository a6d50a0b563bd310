"""What two versions of a contract say differently of the table's columns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakehouse.quality.contract import Contract, ContractColumn
from lakehouse.quality.errors import ContractError
from lakehouse.quality.version_step import Difference, Step
from lakehouse.storage.errors import StorageError
from lakehouse.storage.schema import fits
from lakehouse.storage.sql import identifier
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.types import IcebergType

_JSON = "json"  # a text in the table, that is JSON


def column_differences(old: Contract, new: Contract) -> Iterator[Difference]:
    """Columns that were added, removed, changed or put in another order.

    Raises:
        ContractError: a column has a type that no table can have.
    """
    import duckdb

    connection = duckdb.connect()
    before = {column.name: column for column in old.columns}
    after = {column.name: column for column in new.columns}
    for name, column in before.items():
        if name in after:
            yield from _changed(column, after[name], connection)
        else:
            yield Difference(Step.MAJOR, f"column {name} removed{_new_name(column, old, new)}")
    for name, column in after.items():
        if name not in before:
            yield Difference(Step.MINOR, f"column {name} added, {column.type}")
    if [name for name in before if name in after] != [name for name in after if name in before]:
        yield Difference(Step.PATCH, "the columns are in another order")


def _new_name(gone: ContractColumn, old: Contract, new: Contract) -> str:
    """A guess at what the column is called now."""
    known = {column.name for column in old.columns}
    place = old.columns.index(gone)
    for number, column in enumerate(new.columns):
        alike = number == place or (gone.description and column.description == gone.description)
        if column.name not in known and column.type == gone.type and alike:
            return f", or renamed to {column.name}: those who read it by its name read nothing"
    return ""


def _changed(
    old: ContractColumn, new: ContractColumn, connection: "DuckDBPyConnection"
) -> Iterator[Difference]:
    where = f"column {old.name}"
    if old.type != new.type:
        step, why = _type_step(old, new, connection)
        yield Difference(step, f"{where} is {new.type}, was {old.type}{why}")
    if old.nullable != new.nullable:
        step, says = (Step.MAJOR, "may be null now") if new.nullable else (Step.MINOR, "is never null now")
        yield Difference(step, f"{where} {says}")
    if old.optional != new.optional:
        text = "may be left out by the source now" if new.optional else "must be in the source now"
        yield Difference(Step.MAJOR if new.optional else Step.MINOR, f"{where} {text}")
    if old.zone != new.zone:
        # Without a zone, times that name none were refused: no row was read otherwise.
        step = Step.MINOR if old.zone is None else Step.MAJOR
        yield Difference(step, f"{where}: zone is {new.zone or 'none'}, was {old.zone or 'none'}")
    if old.pii != new.pii:
        text = f"{where}: pii is {new.pii}, was {old.pii}; who may see it, and how, changes"
        yield Difference(Step.MAJOR, text)
    if old.description != new.description:
        yield Difference(
            Step.PATCH, f"{where}: the description changed; if its meaning did, that is breaking"
        )


def _type_step(
    old: ContractColumn, new: ContractColumn, connection: "DuckDBPyConnection"
) -> tuple[Step, str]:
    """The step for a type that is written otherwise, and why."""
    was, now = _iceberg_type(old, connection), _iceberg_type(new, connection)
    if was == now:
        if old.type.lower() == _JSON:
            return Step.MAJOR, ": its values need no longer be JSON"
        return Step.MINOR, f": the table's type stays {now}"
    if fits(was, now):
        return Step.MINOR, ": every old value is one of the new type"
    return Step.MAJOR, ""


def _iceberg_type(column: ContractColumn, connection: "DuckDBPyConnection") -> "IcebergType":
    import duckdb

    try:
        types = describe(connection, f"select cast(null as {column.type}) as {identifier(column.name)}")
        return to_iceberg_schema(types).fields[0].field_type
    except (duckdb.Error, StorageError) as error:
        raise ContractError(
            f"Column {column.name} has the type {column.type!r}, which no table has."
        ) from error
