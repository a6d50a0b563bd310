"""The rows of a load as the Bronze table gets them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from lakehouse.ingest.columns import Column
from lakehouse.ingest.source import LOAD_COLUMNS, BronzeSource
from lakehouse.ingest.values import fitting, is_held, text_of
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.types import describe

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

# dlt's own columns: `_load_id` stands for the one, and nested tables, which the other is for, are refused.
DLT_COLUMNS = ("_dlt_load_id", "_dlt_id")
ROW = "lakehouse_row"  # a row's number while it is landed; no column of the table


@dataclass(frozen=True)
class LandedRows:
    """A relation with the declared columns, those the source has beside, and those of every load.

    Args:
        relation: what SQL can select from.
        normalize: what dlt makes of a column's name; the contract's name is the one that stays.
        came_by: SQL of the load that brought a row from the source, where that is another.
        types: of the relation's columns, if they are known.
    """

    connection: "DuckDBPyConnection"
    relation: str
    source: BronzeSource
    load_id: str
    loaded_at: datetime
    normalize: Callable[[str], str]
    came_by: str | None = None
    types: "Mapping[str, DuckDBPyType] | None" = None

    def query(self, partitions: Sequence[date] | None) -> str:
        """The SQL of these partitions' rows, or of all rows."""
        present = self.types or describe(self.connection, f"select * from {self.relation}")
        landed_as = {column: self._landed_as(column.name, present) for column in self.source.columns}
        known = {*landed_as.values(), *DLT_COLUMNS, ROW, *(column.name for column in LOAD_COLUMNS)}
        columns = [
            f"{_cast(column, name, present.get(name))} as {identifier(column.name)}"
            for column, name in landed_as.items()
        ]
        origin = "_source_file" if "_source_file" in present else literal(self.source.origin)
        columns += [
            f"{self.came_by or literal(self.load_id)} as _load_id",
            f"{origin} as _source_file",
            f"{literal(self.loaded_at.isoformat())}::timestamptz as _loaded_at",
        ]
        columns += [identifier(name) for name in present if name not in known]
        query = f"select {', '.join(columns)} from {self.relation}"
        if partitions is None:
            return query
        wanted = ", ".join(f"{literal(partition)}::date" for partition in partitions)
        # Rows without a partition pass, so that they are refused instead of dropped.
        column = identifier(str(self.source.partition_by))
        return f"select * from ({query}) where {column} in ({wanted}) or {column} is null"

    def _landed_as(self, name: str, present: "Mapping[str, DuckDBPyType]") -> str:
        return name if name in present else self.normalize(name)


def relation_of(files: Sequence[str]) -> str:
    """The rows of a load's Parquet files, of which some may lack a column."""
    if not files:
        return f"(select null as {ROW} where false)"
    return (
        f"read_parquet([{', '.join(map(literal, files))}], union_by_name = true, hive_partitioning = false)"
    )


def _cast(column: Column, landed_as: str, kind: "DuckDBPyType | None") -> str:
    """A declared column with its type, refusing what that cannot hold; one that is not there is null."""
    if kind is None:
        return f"cast(null as {column.type})"
    sql = identifier(landed_as)
    if is_held(column, kind):
        return f"cast({sql} as {column.type})"
    holds = (
        f"{literal(f'Column {column.name} is declared {column.type}, but holds ')} || {text_of(sql, kind)}"
    )
    return f"case when {sql} is not null then coalesce({fitting(column, sql, kind)}, error({holds})) end"
