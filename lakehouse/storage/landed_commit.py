"""Whether a commit whose answer was lost is in the table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.storage.maintenance import referred
from lakehouse.storage.staging import StagedFile
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


def landed_in(
    catalog: "Catalog", name: str, snapshot_id: int | None, staged: Sequence[StagedFile]
) -> "Table | None":
    """The table as the commit made it, or as it is where that is not known any more; None: it is not there.

    Others may have committed since. Its snapshot may be dropped already, and its files be part of later ones.
    """
    table = load_table(catalog, name)
    if table is None or snapshot_id is None:
        return None
    if table.metadata.current_snapshot_id == snapshot_id:
        return table
    if table.metadata.snapshot_by_id(snapshot_id) is not None:
        return _as_of(table, snapshot_id)
    files = {Path(file.path) for file in staged}
    return None if files.isdisjoint(referred(table.metadata, table.io)) else table


def _as_of(table: "Table", snapshot_id: int) -> "Table":
    """The table at its last metadata file in which a snapshot is the current one."""
    from pyiceberg.table import StaticTable

    for entry in reversed(table.metadata.metadata_log):
        then = StaticTable.from_metadata(entry.metadata_file, table.io.properties)
        if then.metadata.current_snapshot_id == snapshot_id:
            return then
    return table
