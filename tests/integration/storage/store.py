"""A lake to write to, read back by both PyIceberg and DuckDB."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
from pyiceberg.table import Table

from lakehouse.catalog import open_catalog
from lakehouse.catalog.client import LakeCatalog
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan, write
from lakehouse.storage.tables import TableSpec, load_table
from lakehouse.storage.write import WriteResult

D1, D2, D3, D4 = (date(2013, 1, day) for day in range(1, 5))


@dataclass(frozen=True)
class Rows:
    """The rows of a query, limited to the partitions asked for (`stray`: not limited)."""

    connection: duckdb.DuckDBPyConnection
    sql: str
    stray: bool = False

    def query(self, partitions: Sequence[date] | None) -> str:
        if partitions is None or self.stray:
            return self.sql
        days = ", ".join(f"date '{day}'" for day in partitions)
        return f"select * from ({self.sql}) where d in ({days})"


@dataclass
class Store:
    settings: Settings
    catalog: LakeCatalog = field(init=False)
    connection: duckdb.DuckDBPyConnection = field(init=False)

    def __post_init__(self) -> None:
        self.catalog = open_catalog(self.settings)
        self.connection = duckdb_session.connect(self.settings)

    def rows(self, sql: str, stray: bool = False) -> Rows:
        return Rows(self.connection.cursor(), sql, stray)

    def replace(self, name: str, sql: str, partition_by: str | None = None, **options: Any) -> WriteResult:
        return write.replace(self.catalog, TableSpec(name, partition_by), self.rows(sql), **options)

    def append(
        self, name: str, sql: str, load_id: str, partition_by: str | None = None, **options: Any
    ) -> WriteResult:
        spec = TableSpec(name, partition_by)
        return write.append(self.catalog, spec, self.rows(sql), load_id, **options)

    def overwrite(
        self, name: str, sql: str, days: Sequence[date], stray: bool = False, **options: Any
    ) -> WriteResult:
        rows = self.rows(sql, stray)
        return write.overwrite_partitions(self.catalog, TableSpec(name, "d"), rows, days, **options)

    def table(self, name: str) -> Table:
        return self.catalog.load_table(name)

    def exists(self, name: str) -> bool:
        return load_table(self.catalog, name) is not None

    def read(self, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
        """The rows, sorted, as both engines read them."""
        table = self.table(name)
        scan.pin_current(self.connection, table)
        by_duckdb = self.connection.execute(f"select {columns} from {name}").fetchall()
        arrow = table.scan().to_arrow()
        self.connection.register("by_pyiceberg", arrow)
        by_pyiceberg = self.connection.execute(f"select {columns} from by_pyiceberg").fetchall()
        self.connection.unregister("by_pyiceberg")
        assert sorted(map(str, by_duckdb)) == sorted(map(str, by_pyiceberg))  # as text, for NaN is not NaN
        return sorted(by_duckdb, key=str)

    def snapshots(self, name: str) -> int:
        table = load_table(self.catalog, name)
        return len(table.metadata.snapshots) if table else 0

    def unreferenced_files(self) -> list[str]:
        """Parquet files that no snapshot of any table refers to."""
        referenced = set()
        for name in scan.list_tables(self.catalog):
            table = self.table(name)
            for snapshot in table.metadata.snapshots:
                for manifest in snapshot.manifests(table.io):
                    entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
                    referenced |= {entry.data_file.file_path for entry in entries}
        written = Path(self.settings.warehouse_dir).rglob("*.parquet")
        return sorted(str(file) for file in written if str(file) not in referenced)


def once(action: Callable[[], Any]) -> Callable[[Any], dict[Any, str]]:
    """An audit that refuses nothing, but lets another writer in between staging and commit, once."""
    pending = [action]

    def audit(_: Any) -> dict[Any, str]:
        if pending:
            pending.pop()()
        return {}

    return audit
