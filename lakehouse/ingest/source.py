"""What a Bronze table is loaded from: the one thing that a new source has to say."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakehouse.ingest.columns import Column, DeclaredColumns
from lakehouse.ingest.file_pattern import FilePattern
from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_keys import SchemaMode
from lakehouse.quality.drift import Arrival
from lakehouse.quality.quarantine import Quarantined
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.prestaged import Prestager
from lakehouse.storage.schema import become, evolve
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.time_window import TimeWindow

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType
    from pyiceberg.catalog import Catalog
    from pyiceberg.types import IcebergType

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
        quarantined: takes what the table does not.
        held: the columns that the table has and keeps.
        had: names of the columns that the table has, kept or not.
        handed_over: the files that are landed, which dlt is to carry as they are.
        arrivals: how the source's columns came, where they differ from the contract's and the table's.
        described: the types of queries that differ by the file alone.
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
    quarantined: Quarantined
    held: "dict[str, IcebergType]" = field(default_factory=dict)
    had: frozenset[str] = frozenset()
    handed_over: set[str] = field(default_factory=set)
    arrivals: list[Arrival] = field(default_factory=list)
    described: "dict[Hashable, dict[str, DuckDBPyType]]" = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """The one file of the partition, by the source's `files`; whether it is there, reading it says.

        Raises:
            ValueError: the source declares none, or any number of them.
        """
        return self._pattern.path(self.settings.source_dir, self.partition)

    @property
    def files(self) -> list[Path]:
        """The partition's files that are there, by the source's `files`.

        Raises:
            ValueError: the source declares none.
        """
        folder = self.settings.source_dir
        return [folder / file.name for file in self._pattern.find(folder, self.partition)]

    @property
    def _pattern(self) -> FilePattern:
        if self.source.pattern is None:
            raise ValueError(f'{self.source.name} declares no files: give it `files="…"`.')
        return self.source.pattern


@dataclass(frozen=True)
class BronzeSource:
    """One Bronze table and where its rows come from.

    Args:
        table: the table's name in Bronze.
        columns: the declared columns; they exist even if every value is null.
        extract: yields what dlt takes: rows, Arrow tables, imported files, or (`yield from`) a resource's.
        origin: names the source in messages and in `_source_file` where there is no file.
        files: the files it reads, below the source folder, such as `orders/{partition}.csv`; `*` is any text.
            What a sensor watches.
        partition_by: the date column whose values are the partitions.
        write_disposition: for tables without partitions, `replace`, `append` or `merge`.
        key: how `merge` tells rows apart, and which of them counts.
        strategy: what `merge` does with a key that is there: `upsert` replaces, `insert_only` leaves its row.
        window: the window of time that a load replaces of a table without partitions; asked at each load.
        sort_by: columns to sort each file by.
        may_be_empty: whether a load without rows may empty a table that is replaced as a whole,
            and a file without rows its partition.
        schema_mode: what to do with a new column or a value that does not fit; None: as the contract says.
        count: how many rows the source itself says there are of the partition; None: it cannot say.
    """

    table: str
    columns: tuple[Column, ...]
    extract: Callable[[Extraction], Iterator[Any]]
    origin: str
    description: str = ""
    files: str | None = None
    partition_by: str | None = None
    write_disposition: Literal["replace", "append", "merge"] = "replace"
    key: MergeKey | None = None
    strategy: Literal["upsert", "insert_only"] = "upsert"
    window: Callable[[], TimeWindow] | None = None
    sort_by: tuple[str, ...] = field(default=())
    may_be_empty: bool = False
    schema_mode: SchemaMode | None = None
    count: Callable[[Extraction], int] | None = None

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
        if self.strategy != "upsert" and self.key is None:
            raise ValueError(f"{self.name}: the strategy {self.strategy} is for `merge`.")
        if self.window is not None and not self.replaces_all_but_window:
            raise ValueError(f"{self.name}: a window is for a table without partitions, and not for `merge`.")
        if self.pattern is not None and self.pattern.is_partitioned != (self.partition_by is not None):
            raise ValueError(
                f"{self.name}: its files are {self.files}: give both {{partition}} and a partition column, "
                "or neither."
            )
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
    def pattern(self) -> FilePattern | None:
        """The files it reads, None if it reads none or does not say.

        Raises:
            ValueError: they are not below the source folder.
        """
        return FilePattern(self.files) if self.files is not None else None

    @property
    def column_names(self) -> list[str]:
        """Names of the declared columns."""
        return [column.name for column in self.columns]

    @property
    def mode(self) -> SchemaMode:
        """What a load does with a column that is new and a value that does not fit."""
        return self.schema_mode or (self.contract.schema_mode if self.contract else "evolve")

    @property
    def contract(self) -> Contract | None:
        """The contract that the columns were read from, None if they were declared by hand."""
        return self.columns.contract if isinstance(self.columns, DeclaredColumns) else None

    @property
    def required(self) -> tuple[str, ...]:
        """Columns without which a row cannot be in the table: its key, or what says its partition."""
        if self.key is not None:
            return self.key.columns
        return (self.partition_by,) if self.partition_by else ()

    @property
    def replaces_all(self) -> bool:
        """Whether a load replaces the whole table, its columns too."""
        return self.window is None and self.replaces_all_but_window

    @property
    def replaces_all_but_window(self) -> bool:
        """Whether a load would replace the whole table, were it not for a window."""
        return self.partition_by is None and self.write_disposition == "replace"

    @property
    def writes(self) -> str:
        """What a load does with the rows that are there."""
        if self.partition_by is not None:
            return "overwrite_partition"
        return "overwrite_window" if self.window is not None else self.write_disposition

    def spec(self, keep_snapshots: int) -> TableSpec:
        """The table to write."""
        return TableSpec(self.name, self.partition_by, self.sort_by, keep_snapshots)

    def prestager(self, catalog: "Catalog", keep_snapshots: int) -> Prestager:
        """Writes files for the table ahead of a load's commit."""
        return Prestager(catalog, self.spec(keep_snapshots), become if self.replaces_all else evolve)
