"""Files that no snapshot names: what a killed writer staged, and what only dropped snapshots named.

They harm no reader. A file is removed only if it is old (a writer may still be about to commit it)
and if no table refers to it, asked after the files were listed, so that what was committed
meanwhile is among those referred to.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Leftover:
    """A file below a table's folder that the table does not refer to."""

    path: Path
    size: int


def find_leftovers(catalog: "Catalog", name: str, older_than_hours: float) -> list[Leftover]:
    """The files below a table's folder that are old and that no snapshot of it needs.

    Raises:
        NoSuchTableError: there is no such table.
    """
    folder = _local(catalog.load_table(name).location())
    before = time.time() - older_than_hours * SECONDS_PER_HOUR
    old = [(path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file()]
    old = [(path, stat) for path, stat in old if stat.st_mtime < before]
    needed = set(_referred(catalog.load_table(name)))
    return [Leftover(path, stat.st_size) for path, stat in old if path not in needed]


def remove(leftovers: list[Leftover], folder: Path) -> None:
    """Remove files, and the folders below `folder` that are empty then."""
    for leftover in leftovers:
        leftover.path.unlink(missing_ok=True)
    for leftover in leftovers:
        for parent in leftover.path.parents:
            if parent == folder or (parent.exists() and any(parent.iterdir())):
                break
            if parent.exists():
                parent.rmdir()


def table_folder(catalog: "Catalog", name: str) -> Path:
    """Where a table's files are."""
    return _local(catalog.load_table(name).location())


def _referred(table: "Table") -> Iterator[Path]:
    """Every file that a snapshot of the table needs, and the metadata files it keeps."""
    yield _local(table.metadata_location)
    yield from (_local(entry.metadata_file) for entry in table.metadata.metadata_log)
    yield from (_local(file.statistics_path) for file in table.metadata.statistics)
    seen: set[str] = set()
    for snapshot in table.metadata.snapshots:
        yield _local(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            if manifest.manifest_path in seen:
                continue
            seen.add(manifest.manifest_path)
            yield _local(manifest.manifest_path)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
                yield _local(entry.data_file.file_path)


def _local(location: str) -> Path:
    """A path on this machine, of a location with or without a scheme."""
    return Path(unquote(urlparse(location).path)) if location.startswith("file:") else Path(location)
