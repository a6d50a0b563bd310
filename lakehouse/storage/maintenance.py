"""Files that no one needs: what a killed writer staged, and what only dropped snapshots named.

A file is removed only if it is old (a writer may still be about to commit it) and if no metadata of
the table names it that was current within the same time: readers hold on to the metadata they began
with. That is asked after the files were listed, so that what was committed meanwhile counts.
"""

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table.metadata import TableMetadata

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
    old = [(path, stat) for path, stat in _files(folder) if stat.st_mtime < before]
    table = catalog.load_table(name)
    seen: set[str] = set()
    needed = {_local(table.metadata_location), *referred(table.metadata, table.io, seen)}
    for path in _current_since(folder / "metadata", before):
        needed.add(path)
        with suppress(ValueError):  # cut short on a full disk: it was never current
            needed.update(referred(_read_metadata(table.io, path), table.io, seen, complete=False))
    return [Leftover(path, stat.st_size) for path, stat in old if path not in needed]


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files below a folder; what goes while it is looked at is left out."""
    for path in sorted(folder.rglob("*")):
        with suppress(FileNotFoundError):
            if path.is_file():
                yield path, path.stat()


def _current_since(folder: Path, time_seconds: float) -> list[Path]:
    """The metadata files that were current at a time and after."""
    versions = [
        (stat.st_mtime, path) for path, stat in _files(folder) if path.name.endswith(".metadata.json")
    ]
    older = [version for version in versions if version[0] < time_seconds]
    return [path for _, path in [*([max(older)] if older else []), *set(versions).difference(older)]]


def _read_metadata(io: "FileIO", path: Path) -> "TableMetadata":
    from pyiceberg.serializers import FromInputFile

    return FromInputFile.table_metadata(io.new_input(str(path)))


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


def referred(
    metadata: "TableMetadata", io: "FileIO", seen: set[str] | None = None, *, complete: bool = True
) -> Iterator[Path]:
    """Every file that a snapshot needs, and the metadata files that the log names.

    Args:
        seen: manifests and their lists that need not be opened again.
        complete: whether all of these must be there, as they need not be of a commit that lost a race.
    """
    seen = set() if seen is None else seen
    yield from (_local(entry.metadata_file) for entry in metadata.metadata_log)
    yield from (_local(file.statistics_path) for file in metadata.statistics)
    yield from (_local(file.statistics_path) for file in metadata.partition_statistics)
    for snapshot in metadata.snapshots:
        if snapshot.manifest_list not in seen:
            seen.add(snapshot.manifest_list)
            yield _local(snapshot.manifest_list)
            with nullcontext() if complete else suppress(FileNotFoundError):
                yield from _of_manifests(snapshot.manifests(io), io, seen)


def _of_manifests(manifests: "list[ManifestFile]", io: "FileIO", seen: set[str]) -> Iterator[Path]:
    for manifest in manifests:
        if manifest.manifest_path not in seen:
            seen.add(manifest.manifest_path)
            yield _local(manifest.manifest_path)
            for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
                yield _local(entry.data_file.file_path)


def _local(location: str) -> Path:
    """A path on this machine, of a location with or without a scheme."""
    return Path(unquote(urlparse(location).path)) if location.startswith("file:") else Path(location)
