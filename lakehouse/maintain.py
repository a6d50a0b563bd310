"""`lakehouse maintain`: remove what no one needs any more, table by table and run by run."""

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.quality.refused import refused_partitions
from lakehouse.query_errors import NO_TABLES, QueryError, no_such_table
from lakehouse.storage.maintenance import SECONDS_PER_HOUR, find_leftovers, remove, table_folder

if TYPE_CHECKING:
    from lakehouse.settings import Settings


HOURS_PER_DAY = 24


@dataclass(frozen=True)
class Removed:
    """What was (or, on a dry run, would be) removed of one table or folder."""

    what: str
    files: int
    size_bytes: int


def maintain(settings: "Settings", table: str | None, *, dry_run: bool) -> list[Removed]:
    """Remove old files that no snapshot names, and (of all tables) folders that killed runs left.

    Raises:
        QueryError: there is no such table.
    """
    known = metadata_locations(settings)
    if not known:
        raise QueryError(NO_TABLES)
    if table is not None and table.lower() not in known:
        raise no_such_table(table, (there for there, _ in known.values()))
    names = [name for key, (name, _) in known.items() if table is None or key == table.lower()]
    catalog = open_catalog(settings)
    done = []
    for name in names:
        leftovers = find_leftovers(catalog, name, settings.maintain_after_hours)
        if not dry_run:
            remove(leftovers, table_folder(catalog, name))
        done.append(Removed(name, len(leftovers), sum(leftover.size for leftover in leftovers)))
    if table is None:
        done += _run_folders(settings, dry_run=dry_run)
        done.append(_refused_rows(settings, dry_run=dry_run))
    return done


def _run_folders(settings: "Settings", *, dry_run: bool) -> Iterator[Removed]:
    """The folders of dlt and dbt runs and DuckDB connections: each ends with its own, unless dbt failed."""
    before = time.time() - settings.maintain_after_hours * SECONDS_PER_HOUR
    for what, parent, pattern in (
        ("dlt runs", settings.dlt_dir / "runs", "*"),
        ("dbt runs", settings.dbt_dir / "target", "run-*"),
        ("spilled rows", settings.temp_dir, "*-*"),
    ):
        folders = [path for path in parent.glob(pattern) if path.is_dir() and _last_change(path) < before]
        yield _removed(what, folders, dry_run=dry_run)


def _refused_rows(settings: "Settings", *, dry_run: bool) -> Removed:
    """Rows that were not published, once there was time to look at them."""
    before = time.time() - settings.refused_days * HOURS_PER_DAY * SECONDS_PER_HOUR
    folders = [path for path in refused_partitions(settings) if _last_change(path) < before]
    removed = _removed("refused rows", folders, dry_run=dry_run)
    for folder in () if dry_run else folders:
        for parent in (folder.parent, folder.parent.parent):  # the run's and the table's, if empty now
            with suppress(OSError):
                parent.rmdir()
    return removed


def _removed(what: str, folders: list[Path], *, dry_run: bool) -> Removed:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    if not dry_run:
        _remove_folders(folders)
    return Removed(what, len(files), size)


def _last_change(folder: Path) -> float:
    """When anything in a folder was last written; its own time tells only of what is directly in it."""
    times = [folder.stat().st_mtime]
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            times.append(path.stat().st_mtime)
    return max(times)


def _remove_folders(folders: list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
