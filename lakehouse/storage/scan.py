"""Reading tables in DuckDB: SQL that is pinned to one snapshot, found through the catalog."""

from typing import TYPE_CHECKING

from lakehouse.storage.sql import identifier, literal, qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


def scan(metadata_location: str, snapshot_id: int | None) -> str:
    """SQL that reads a table as of a snapshot; a table without one has no rows."""
    return f"select * from {iceberg_scan(metadata_location, snapshot_id)}"


def iceberg_scan(metadata_location: str, snapshot_id: int | None) -> str:
    """The table function of a snapshot."""
    if snapshot_id is None:
        return f"iceberg_scan({literal(metadata_location)})"
    return f"iceberg_scan({literal(metadata_location)}, snapshot_from_id = {snapshot_id})"


def pin(connection: "DuckDBPyConnection", name: str, metadata_location: str, snapshot_id: int | None) -> None:
    """Create or move the view `layer.table` so that it reads this snapshot."""
    connection.execute(f"create schema if not exists {identifier(name.partition('.')[0])}")
    connection.execute(f"create or replace view {qualified(name)} as {scan(metadata_location, snapshot_id)}")


def pin_current(connection: "DuckDBPyConnection", table: "Table") -> None:
    """Pin a table at the snapshot it was loaded with."""
    pin(connection, table_name(table), table.metadata_location, table.metadata.current_snapshot_id)


def table_name(table: "Table") -> str:
    """`layer.table` of a loaded table."""
    return ".".join(table.name())


def list_tables(catalog: "Catalog") -> list[str]:
    """All tables of the catalog as `layer.table`, sorted."""
    return sorted(
        ".".join(table) for layer in catalog.list_namespaces() for table in catalog.list_tables(layer)
    )
