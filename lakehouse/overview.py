"""What each table's metadata says of it: rows, partitions, size, snapshots, last write."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.query_errors import unreadable
from lakehouse.storage.errors import CatalogError

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

    from lakehouse.settings import Settings

KILO = 1000


@dataclass(frozen=True)
class Overview:
    """What a table's metadata says of it; `partitions` is None where it has no partitioning."""

    name: str
    rows: int
    partitions: int | None
    size_bytes: int
    snapshots: int
    last_written: str | None

    def cells(self) -> tuple[str, ...]:
        """The line of it that a person reads."""
        partitions = "-" if self.partitions is None else f"{self.partitions:,}"
        written = (self.last_written or "never").replace("T", " ").removesuffix("Z")
        return self.name, f"{self.rows:,}", partitions, size(self.size_bytes), f"{self.snapshots:,}", written


def read_overviews(settings: "Settings") -> tuple[list[Overview], list[str]]:
    """Every table's overview, and a sentence for each table whose metadata cannot be read."""
    known = metadata_locations(settings)
    if not known:
        return [], []
    catalog = open_catalog(settings)
    overviews, failures = [], []
    for name, _ in known.values():
        try:
            overviews.append(_overview(name, catalog.load_table(name)))
        except CatalogError:
            raise
        except Exception as error:  # whatever is wrong with one table, the others are listed
            failures.append(unreadable(name, error))
    return overviews, failures


def _overview(name: str, table: "Table") -> Overview:
    snapshot = table.current_snapshot()
    if snapshot is None:
        partitions = None if table.spec().is_unpartitioned() else 0
        return Overview(name, 0, partitions, 0, len(table.metadata.snapshots), None)
    partitions = None
    if not table.spec().is_unpartitioned():
        entries = (
            entry
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io)
        )
        partitions = len({entry.data_file.partition for entry in entries})
    written = datetime.fromtimestamp(snapshot.timestamp_ms // KILO, UTC)
    return Overview(
        name=name,
        rows=_total(snapshot, "total-records"),
        partitions=partitions,
        size_bytes=_total(snapshot, "total-files-size"),
        snapshots=len(table.metadata.snapshots),
        last_written=f"{written:%Y-%m-%dT%H:%M:%SZ}",
    )


def _total(snapshot: "Snapshot", key: str) -> int:
    return int(snapshot.summary.get(key) or 0) if snapshot.summary else 0


def size(count: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < KILO:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= KILO
    return f"{count:.1f} TB"
