"""What a Bronze table is loaded from: the one thing that a new source has to say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakehouse.ingest.columns import Column
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.prestaged import Prestager
from lakehouse.storage.schema import become, evolve
from lakehouse.storage.tables import TableSpec

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings

# Added to every Bronze row; the values of all other columns stay the source's.
LOAD_COLUMNS = (
    Column("_load_id", "varchar", "The dlt load that brought the row."),
    Column("_source_file", "varchar", "The file or source table the row came from."),
    Column("_loaded_at", "timestamptz", "When the row was loaded."),
)


@dataclass(frozen=True)
class Extraction:
    """What a source's `extract` may use.

    Args:
        partition: the partition to extract, None for a table without partitions.
        source: what is being extracted.
        settings: the settings.
        connection: a DuckDB connection.
        folder: an empty folder for files that are handed to dlt.
        prestager: writes files that the load's commit can take as they are.
        load_id: dlt's id of the load.
        loaded_at: the time that its rows will give.
        told: the column lists that dlt has been told.
    """

    partition: date | None
    source: "BronzeSource"
    settings: "Settings"
    connection: "DuckDBPyConnection"
    folder: Path
    prestager: Prestager
    load_id: str
    loaded_at: datetime
    told: set[tuple[Column, ...]]


@dataclass(frozen=True)
class BronzeSource:
    """One Bronze table and where its rows come from.

    Args:
        table: the table's name in Bronze.
        columns: the declared columns; they exist even if every value is null.
        extract: yields what dlt takes: rows, Arrow tables, imported files, or (`yield from`) a resource's.
        origin: names the source in messages and in `_source_file` where there is no file.
        partition_by: the date column whose values are the partitions.
        write_disposition: for tables without partitions, `replace`, `append` or `merge`.
        key: how `merge` tells rows apart, and which of them counts.
        sort_by: columns to sort each file by.
        may_be_empty: whether a load without rows may empty a table that is replaced as a whole,
            and a file without rows its partition.
    """

    table: str
    columns: tuple[Column, ...]
    extract: Callable[[Extraction], Iterator[Any]]
    origin: str
    description: str = ""
    partition_by: str | None = None
    write_disposition: Literal["replace", "append", "merge"] = "replace"
    key: MergeKey | None = None
    sort_by: tuple[str, ...] = field(default=())
    may_be_empty: bool = False

    def __post_init__(self) -> None:
        names = self.column_names
        if self.partition_by is not None and self.partition_by not in names:
            raise ValueError(
                f"{self.name}: the partition column {self.partition_by} is not a declared column."
            )
        if self.partition_by is not None and self.write_disposition != "replace":
            raise ValueError(
                f"{self.name}: a partition replaces itself; `{self.write_disposition}` is for tables "
                "without partitions."
            )
        if (self.write_disposition == "merge") != (self.key is not None):
            raise ValueError(f"{self.name}: `merge` needs a key, and a key is for `merge` alone.")
        if reserved := {column.name for column in LOAD_COLUMNS} & set(names):
            raise ValueError(
                f"{self.name}: {', '.join(sorted(reserved))} are added by the load; do not declare them."
            )

    @property
    def name(self) -> str:
        """`bronze.<table>`."""
        return f"bronze.{self.table}"

    @property
    def pipeline_name(self) -> str:
        """What dlt keeps its schemas and state under."""
        return f"bronze_{self.table}"

    @property
    def column_names(self) -> list[str]:
        """Names of the declared columns."""
        return [column.name for column in self.columns]

    def spec(self, keep_snapshots: int) -> TableSpec:
        """The table to write."""
        return TableSpec(self.name, self.partition_by, self.sort_by, keep_snapshots)

    def prestager(self, catalog: "Catalog", keep_snapshots: int) -> Prestager:
        """Writes files for the table ahead of a load's commit."""
        replaces_all = self.partition_by is None and self.write_disposition == "replace"
        return Prestager(catalog, self.spec(keep_snapshots), become if replaces_all else evolve)
