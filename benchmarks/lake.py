"""A lakehouse that a benchmark works on, and rows to write to it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog


@dataclass(frozen=True)
class Rows:
    """The rows of a query."""

    connection: "DuckDBPyConnection"
    sql: str

    def query(self, _: object) -> str:
        """The query."""
        return self.sql


def open_lake(data_dir: str) -> "tuple[Catalog, DuckDBPyConnection]":
    """Its catalog, and a connection with a view of every table."""
    from lakehouse.catalog import open_catalog
    from lakehouse.settings import Settings
    from lakehouse.storage import duckdb_session, scan

    settings = Settings(data_dir=Path(data_dir))
    catalog, connection = open_catalog(settings), duckdb_session.connect(settings)
    for name in scan.list_tables(catalog):
        scan.pin_current(connection, catalog.load_table(name))
    return catalog, connection
