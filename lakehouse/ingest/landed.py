"""The rows of a load's files as the Bronze table gets them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from lakehouse.ingest.columns import WHOLE_NUMBERS, Column
from lakehouse.ingest.source import LOAD_COLUMNS, BronzeSource
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.types import describe

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

# dlt's own columns: `_load_id` stands for the one, and nested tables, which the other is for, are refused.
DLT_COLUMNS = ("_dlt_load_id", "_dlt_id")
# Types of which a value may be no whole number; DuckDB would round it.
FRACTIONAL = ("varchar", "float", "double", "decimal")


@dataclass(frozen=True)
class LandedRows:
    """A load's files with the declared columns, those the source has beside, and those of every load.

    Args:
        normalize: what dlt makes of a column's name; the contract's name is the one that stays.
    """

    connection: "DuckDBPyConnection"
    files: Sequence[str]
    source: BronzeSource
    load_id: str
    loaded_at: datetime
    normalize: Callable[[str], str]

    def query(self, partitions: Sequence[date] | None) -> str:
        """The SQL of these partitions' rows, or of all rows."""
        landed = f"read_parquet([{', '.join(map(literal, self.files))}], union_by_name = true)"
        present = describe(self.connection, f"select * from {landed}")
        landed_names = {
            column.name: self._landed_name(column.name, present) for column in self.source.columns
        }
        known = {*landed_names.values(), *DLT_COLUMNS, *(column.name for column in LOAD_COLUMNS)}
        columns = [_cast(column, landed_names[column.name], present) for column in self.source.columns]
        columns += [identifier(name) for name in present if name not in known]
        origin = "_source_file" if "_source_file" in present else literal(self.source.origin)
        columns += [
            f"{literal(self.load_id)} as _load_id",
            f"{origin} as _source_file",
            f"{literal(self.loaded_at.isoformat())}::timestamptz as _loaded_at",
        ]
        query = f"select {', '.join(columns)} from {landed}"
        if partitions is None:
            return query
        wanted = ", ".join(f"{literal(partition)}::date" for partition in partitions)
        # Rows without a partition pass, so that they are refused instead of dropped.
        column = identifier(str(self.source.partition_by))
        return f"select * from ({query}) where {column} in ({wanted}) or {column} is null"

    def _landed_name(self, name: str, present: Mapping[str, "DuckDBPyType"]) -> str:
        return name if name in present else self.normalize(name)


def _cast(column: Column, landed_name: str, present: Mapping[str, "DuckDBPyType"]) -> str:
    """A declared column with its type; one that is not there is null."""
    if landed_name not in present:
        return f"cast(null as {column.type}) as {identifier(column.name)}"
    value = identifier(landed_name)
    cast = f"cast({value} as {column.type})"
    if column.type in WHOLE_NUMBERS and present[landed_name].id in FRACTIONAL:
        message = f"{literal(f'Column {column.name} is declared {column.type}, but holds ')} || {value}"
        cast = f"if(coalesce(try_cast({value} as double) % 1 <> 0, false), error({message}), {cast})"
    return f"{cast} as {identifier(column.name)}"
