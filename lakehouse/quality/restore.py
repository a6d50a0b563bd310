"""Quarantine of a table that is to be rolled back: what was in it then and has been taken out since.

A replay takes rows out once it has published them, and so does a load that brings a partition anew. If
these are undone, the rows would be in neither table.
"""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from lakehouse.quality.quarantine import quarantine_of
from lakehouse.storage import write
from lakehouse.storage.history import began_after, snapshot_as_of
from lakehouse.storage.scan import scan
from lakehouse.storage.sql import identifier
from lakehouse.storage.staging import QueryRows
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog


def restore_quarantine(
    catalog: "Catalog", connection: "DuckDBPyConnection", table: str, moment: datetime, keep_snapshots: int
) -> int:
    """Put back what quarantine held of a table at a moment and does not hold now; returns how many rows.

    They keep the mark of the replay that took them up: as long as the table holds that, they count as
    published. So this may be done before the table is rolled back, and twice.

    Raises:
        StorageError: quarantine is as it was, or its history does not go back so far.
    """
    spec = TableSpec(quarantine_of(table), keep_snapshots=keep_snapshots)
    held = load_table(catalog, spec.name)
    if held is None or began_after(held, moment):
        return 0
    then = snapshot_as_of(held, moment, spec.name)
    now = held.metadata.current_snapshot_id
    if then == now:
        return 0
    names = ", ".join(identifier(name) for name in held.scan(snapshot_id=then).projection().column_names)
    past, present = (f"select {names} from ({scan(held.metadata_location, at)})" for at in (then, now))
    rows = QueryRows(connection, f"{past} except all {present}")
    connection.execute("set TimeZone = 'UTC'")
    return write.append(catalog, spec, rows, f"rollback-{uuid4()}").rows
