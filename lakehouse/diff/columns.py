"""The columns of two snapshots, paired: by field id, so that a renamed one is known, else by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField


@dataclass(frozen=True)
class Column:
    """A column with its SQL type."""

    name: str
    type: str


@dataclass(frozen=True)
class Pair:
    """One column in both snapshots."""

    old: Column
    new: Column


@dataclass(frozen=True)
class ColumnDiff:
    """What became of the columns.

    Args:
        pairs: the columns that both have, in the newer's order.
    """

    added: tuple[Column, ...]
    removed: tuple[Column, ...]
    pairs: tuple[Pair, ...]

    @property
    def renamed(self) -> tuple[Pair, ...]:
        """The columns of another name."""
        return tuple(pair for pair in self.pairs if pair.old.name != pair.new.name)

    @property
    def retyped(self) -> tuple[Pair, ...]:
        """The columns of another type."""
        return tuple(pair for pair in self.pairs if pair.old.type != pair.new.type)

    @property
    def differs(self) -> bool:
        """Whether anything about the columns does."""
        return bool(self.added or self.removed or self.renamed or self.retyped)


def compare_columns(old: "Schema", new: "Schema") -> ColumnDiff:
    """Pair the columns of two schemas of one table."""
    partners = dict(_partners(old, new))
    paired = {field.field_id for field in partners.values()}
    return ColumnDiff(
        added=tuple(_column(field) for field in new.fields if field.field_id not in partners),
        removed=tuple(_column(field) for field in old.fields if field.field_id not in paired),
        pairs=tuple(
            Pair(_column(partners[field.field_id]), _column(field))
            for field in new.fields
            if field.field_id in partners
        ),
    )


def has_remade(old: "Schema", new: "Schema") -> bool:
    """Whether a column was dropped and made again: then even a file of both reads differently."""
    ids = {field.name: field.field_id for field in old.fields}
    return any(ids.get(field.name, field.field_id) != field.field_id for field in new.fields)


def _partners(old: "Schema", new: "Schema") -> "Iterator[tuple[int, NestedField]]":
    """The older field of each newer field's id.

    A column that was written with another type has a new id under its old name.
    """
    by_id = {field.field_id: field for field in old.fields}
    kept = {field.field_id for field in new.fields}
    by_name = {field.name: field for field in old.fields if field.field_id not in kept}
    for field in new.fields:
        partner = by_id.get(field.field_id) or by_name.get(field.name)
        if partner is not None:
            yield field.field_id, partner


def _column(field: "NestedField") -> Column:
    return Column(field.name, to_duckdb_name(field.field_type, field.name))
