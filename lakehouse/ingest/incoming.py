"""The columns that a source brings, matched to those that the contract and the table have."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from lakehouse.ingest import json_values
from lakehouse.ingest.columns import DLT_TYPES, Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.values import complaint, exact, fitting, text_of
from lakehouse.storage.errors import UnsupportedTypeError
from lakehouse.storage.schema import fits
from lakehouse.storage.sql import identifier
from lakehouse.storage.types import to_duckdb_name, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType

    from lakehouse.ingest.source import BronzeSource, Extraction

NESTED = "nested"  # the kind of a Python dict or list
DISCARDING = ("discard_value", "discard_row")


@dataclass(frozen=True)
class Brought:
    """One column as the source brings it.

    Args:
        name: how the relation calls it.
        type: what DuckDB reads it as.
        is_: the SQL type that it is, where it is carried as text.
        mixed: two values of kinds that no type holds both of, where there are such.
        is_json: whether its values are JSON, whose kinds count.
        called: how the source calls it, where DuckDB could not tell that from another column.
    """

    name: str
    type: "DuckDBPyType"
    is_: str | None = None
    mixed: tuple[str, str] | None = None
    called: str = ""
    is_json: bool = False

    def __str__(self) -> str:
        return self.called or self.name


@dataclass(frozen=True)
class Incoming:
    """One column and what becomes of it.

    Args:
        column: what its values have to be; None: what they are.
        unwanted: the rule by which the table does not take it.
        declared: whether the contract has it.
    """

    brought: Brought
    column: Column | None
    name: str
    unwanted: str | None = None
    declared: bool = False

    def sql(self) -> str:
        """The column of the relation `incoming`."""
        return f"incoming.{identifier(self.brought.name)}"

    def text(self) -> str:
        """SQL of its values as text: of JSON as it is written, which tells text from a number."""
        if self.brought.is_json:
            return f"if(json_type({self.sql()}) = 'NULL', null, cast({self.sql()} as varchar))"
        return text_of(self.sql(), self.brought.type)

    def plain(self) -> str | None:
        """SQL of its values as `value` reads them, where that is worth to be done once; null for a misfit."""
        if self.column is None or not (self.brought.is_json and self.declared):
            return None
        return json_values.text(self.column, self.sql(), misfit="null")

    def value(self, plain: str | None = None) -> str:
        """SQL of its values; null for one that does not fit.

        Args:
            plain: SQL of what `plain` gives; a long expression would stand in here many times.
        """
        if self.column is None:
            return self.sql()
        if not self.brought.is_json:
            return fitting(self.column, self.sql(), self.brought.type)
        if self.declared:
            return json_values.fitting(self.column, plain or f"({self.plain()})")
        return exact(self.column, f"({self.sql()} ->> '$')")  # of what kind it is nobody said

    def complaint(self) -> str:
        """SQL of what is wrong with a value that does not fit."""
        if self.column is None:
            return "null"
        if self.brought.is_json and self.declared:
            return json_values.complaint(self.column, self.sql())
        return complaint(self.column, self.text())


@dataclass
class Columns:
    """Matches columns, by the source's mode.

    Args:
        shown: how messages name what brings them.
        held: the table's columns, where it keeps them.
    """

    source: "BronzeSource"
    shown: str
    held: Mapping[str, "IcebergType"]
    taken: dict[str, str] = field(default_factory=dict)

    def match(self, brought: Collection[Brought], computed: Collection[str] = ()) -> list[Incoming]:
        """What becomes of each column.

        Args:
            computed: the table's columns that are there besides.

        Raises:
            SourceError: the mode refuses one, or a declared one was left out beside a new one.
        """
        ordered = sorted(brought, key=lambda column: str(column) not in self.source.column_names)
        incoming = {column.name: self._match(column) for column in ordered}
        self._refuse_rename(incoming.values(), computed)
        return [incoming[column.name] for column in brought]

    def _match(self, brought: Brought) -> Incoming:
        discards = self.source.mode in DISCARDING
        declared = {normalized(column.name): column for column in self.source.columns}
        exact = {column.name: column for column in self.source.columns}
        column = exact.get(str(brought)) or declared.get(normalized(str(brought)))
        name = column.name if column else self._table_name(str(brought))
        twin = self.taken.setdefault(normalized(name), str(brought))
        if twin != str(brought):
            if discards:
                return Incoming(brought, None, name, "name_collision")
            raise SourceError(
                f"{self.shown} has the columns {twin!r} and {str(brought)!r}, which would be one "
                f"column, {name}. Rename one of them in the source."
            )
        if column is not None:
            return Incoming(brought, column, name, declared=True)
        if name not in self.held:
            if discards:
                return Incoming(brought, None, name, "new_column")
            if self.source.mode == "freeze":
                raise SourceError(
                    f"{self.shown} brings the new column {str(brought)!r}, and {self.source.name} is frozen "
                    "(schema_mode). Declare it in the contract, or have the source leave it out."
                )
        return Incoming(brought, self._undeclared(brought, name), name)

    def _table_name(self, name: str) -> str:
        return name if name in self.held else normalized(name)

    def _undeclared(self, brought: Brought, name: str) -> Column | None:
        """What values have to be that nobody declared: what the table has, or what they are."""
        held = self.held.get(name)
        is_ = brought.is_
        if held is not None:
            kind = to_duckdb_name(held).replace("timestamp with time zone", "timestamptz")
            if kind.split("(")[0] not in DLT_TYPES:
                return None
            came = self._type(brought)
            if came is None or not (fits(came, held) or fits(held, came)):
                return Column(name, kind)
        if brought.mixed:
            one, other = brought.mixed
            raise SourceError(
                f"{self.shown}: column {brought} holds both {one} and {other}. "
                "Declare its type in the contract."
            )
        if is_ == NESTED:
            raise SourceError(
                f"{self.shown} brings nested data in {brought}. Give it a column of type json in the "
                "contract, or yield it from a source of its own."
            )
        return Column(name, is_) if is_ else None

    def _type(self, brought: Brought) -> "IcebergType | None":
        """The type of the values; None where they have no one type, or one that no table has."""
        import duckdb

        if brought.mixed or brought.is_ == NESTED:
            return None
        kind = duckdb.type(brought.is_) if brought.is_ else brought.type
        try:
            return to_iceberg_schema({brought.name: kind}).find_type(brought.name)
        except UnsupportedTypeError:
            return None

    def _refuse_rename(self, incoming: Collection[Incoming], computed: Collection[str]) -> None:
        """A column that is left out while a new one comes is a renamed one, or may be."""
        new = [i for i in incoming if i.name not in self.source.column_names and i.name not in self.held]
        names = {i.name for i in incoming} | set(computed)
        left_out = [c.name for c in self.source.columns if c.name not in names and not c.optional]
        if new and left_out and self.source.mode not in DISCARDING:
            raise SourceError(
                f"{self.shown} lacks the column {', '.join(left_out)} and has a new one, "
                f"{', '.join(str(i.brought) for i in new)}. If it was renamed, rename it in the contract or "
                "the source; if it may be left out, mark it there as `optional: true`."
            )


def columns_for(extraction: "Extraction", shown: str) -> Columns:
    """The matching of what an extraction brings."""
    return Columns(extraction.source, shown, extraction.held)


def columns_of(schema: "Schema | None") -> dict[str, "IcebergType"]:
    """A table's columns and their types."""
    return {column.name: column.field_type for column in schema.fields} if schema else {}


@cache
def normalized(name: str) -> str:
    """The name of a column that nobody declared, as dlt would name it."""
    from dlt.common.normalizers.naming.snake_case import NamingConvention

    return NamingConvention().normalize_identifier(name)
