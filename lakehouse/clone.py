"""A lakehouse to try a change in: another catalog that begins with the tables as they are now.

No row is copied. A table of the clone begins at the snapshot that the table has, and reads its files; what
is written goes below the clone's own folder. So neither sees what the other writes, columns included, which
a branch of the table itself would share.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.query_errors import NO_TABLES, QueryError, unreadable
from lakehouse.storage.errors import disk_reason

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata

    from lakehouse.settings import Settings

# The tag of the snapshot that a table of the clone began with.
LIVE = "live"
ORIGINS = "cloned_from"


def clone(settings: "Settings", folder: Path) -> list[str]:
    """Make a clone in a folder; returns its tables.

    Raises:
        QueryError: there are no tables, or the folder is in use, or a table cannot be read.
    """
    known = metadata_locations(settings)
    if not known:
        raise QueryError(NO_TABLES)
    # Made anew: a copy of the settings keeps the paths that were worked out.
    there = type(settings)(
        **settings.model_dump() | {"data_dir": folder.resolve(), "catalog_uri": None},
    )
    _claim(there, [settings.warehouse_dir, *_origins(settings)])
    source, target = open_catalog(settings), open_catalog(there)
    names = sorted(name for name, _ in known.values())
    for name in names:
        try:
            table = source.load_table(name)
        except Exception as error:  # a file that is gone, damaged or forbidden: each IO has its own errors
            raise QueryError(f"{folder} is not whole, remove it: {unreadable(name, error)}") from error
        target.create_namespace_if_not_exists(name.partition(".")[0])
        target.register_table(name, _moved(table, there.warehouse_dir.joinpath(*name.split("."))))
    return names


def origin_folders(settings: "Settings", tables: list[str]) -> list[Path]:
    """Where files of these tables may be besides their own folder, if this lakehouse is a clone."""
    return [origin.joinpath(*table.split(".")) for origin in _origins(settings) for table in tables]


def _claim(there: "Settings", origins: list[Path]) -> None:
    """Note where the files are; of two that clone to one folder the second is refused."""
    try:
        there.data_dir.mkdir(parents=True, exist_ok=True)
        if any(there.data_dir.iterdir()):
            raise QueryError(f"{there.data_dir} is not empty: name a folder that is not there yet.")
        (there.data_dir / ORIGINS).write_text("".join(f"{origin}\n" for origin in origins), encoding="utf-8")
    except OSError as error:
        raise QueryError(f"{there.data_dir} cannot be written: {disk_reason(error)}") from error


def _origins(settings: "Settings") -> list[Path]:
    file = settings.data_dir / ORIGINS
    return [Path(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _moved(table: "Table", folder: Path) -> str:
    """Write a table's metadata anew, for writes below another folder; returns the file."""
    import uuid

    from pyiceberg.serializers import ToOutputFile

    metadata = _tagged(table.metadata).model_copy(update={"location": str(folder)})
    file = folder / "metadata" / f"00000-{uuid.uuid4()}.metadata.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    ToOutputFile.table_metadata(metadata, table.io.new_output(str(file)))
    return str(file)


def _tagged(metadata: "TableMetadata") -> "TableMetadata":
    from pyiceberg.table.refs import SnapshotRef, SnapshotRefType

    if metadata.current_snapshot_id is None:
        return metadata
    named = {"snapshot-id": metadata.current_snapshot_id, "type": SnapshotRefType.TAG}
    tag = SnapshotRef.model_validate(named)
    return metadata.model_copy(update={"refs": {**metadata.refs, LIVE: tag}})
