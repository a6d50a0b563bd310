"""A full disk, a folder that cannot be written, a lost catalog: one sentence, and the table as before."""

import multiprocessing
import os
import re
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from store import D1, D2, Store

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.cli import main
from lakehouse.settings import Settings
from lakehouse.storage.errors import CatalogError, StorageError
from lakehouse.storage.maintenance import find_leftovers, referred
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.write import merge

NAME = "silver.t"
NOBODY = 65534
KILO = 1024
# Random text, which does not compress: two days of 100,000 rows are megabytes.
LARGE = "select date '2013-01-01' + (i % 2)::int as d, i, uuid()::varchar as x from range(200000) r(i)"
SMALL = "select date '2013-01-01' as d, 1::bigint as i, 'new' as x"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(Settings(data_dir=tmp_path / "data"))
    store.overwrite(NAME, "select date '2013-01-01' as d, 0::bigint as i, 'old' as x", [D1])
    return store


def overwrite_large(store: Store) -> None:
    result = store.overwrite(NAME, LARGE, [D1, D2])
    if result.failures:
        raise StorageError("; ".join(result.failures.values()))


def overwrite_small(store: Store) -> None:
    result = store.overwrite(NAME, SMALL, [D1])
    if result.failures:
        raise StorageError(result.failures[D1])


def replace_large(store: Store) -> None:
    store.replace(NAME, LARGE, "d")


def append_large(store: Store) -> None:
    store.append(NAME, LARGE, "load", "d")


def merge_large(store: Store) -> None:
    merge(store.catalog, TableSpec(NAME, "d"), store.rows(LARGE), MergeKey(("i",)))


def in_a_child(limit: Callable[[], None], work: Callable[[Store], None], settings: Settings) -> str:
    """What a process says that works under a limit of the operating system; nothing if all went well."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as pool:
        return pool.apply(limited, (limit, work, settings))


def limited(limit: Callable[[], None], work: Callable[[Store], None], settings: Settings) -> str:
    import duckdb

    store = Store(settings)
    store.overwrite("silver.other", SMALL, [D1])  # what is imported late is imported before the limit
    limit()
    try:
        work(store)
    except (StorageError, duckdb.Error) as error:
        return str(error)
    return ""


def files_of_at_most_300_kilobytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300 * KILO, resource.RLIM_INFINITY))


def files_of_at_most_3_kilobytes() -> None:
    """Too little for the metadata file of a commit, enough for its data."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 * KILO, resource.RLIM_INFINITY))


def become_nobody() -> None:
    if os.geteuid() == 0:  # whom permission bits do not stop
        os.setegid(NOBODY)
        os.seteuid(NOBODY)


def is_as_before(store: Store) -> None:
    assert store.read(NAME) == [(D1, 0, "old")]
    assert store.snapshots(NAME) == 1
    overwrite_small(store)
    assert store.read(NAME) == [(D1, 1, "new")]
    table = store.table(NAME)
    leftovers = {leftover.path for leftover in find_leftovers(store.catalog, NAME, 0)}
    assert leftovers.isdisjoint({Path(table.metadata_location), *referred(table.metadata, table.io)})


@pytest.mark.parametrize("work", [overwrite_large, replace_large, append_large, merge_large])
def test_data_that_does_not_fit_the_disk(store: Store, work: Callable[[Store], None]) -> None:
    said = in_a_child(files_of_at_most_300_kilobytes, work, store.settings)

    assert "File too large" in said and "free some space on that disk and run it again" in said
    assert store.unreferenced_files() == []
    is_as_before(store)


def test_a_commit_that_does_not_fit_the_disk(store: Store) -> None:
    said = in_a_child(files_of_at_most_3_kilobytes, overwrite_small, store.settings)

    assert said.startswith(f"{NAME} could not be written and is as it was.")
    assert "File too large" in said and "free some space on that disk and run it again" in said
    assert store.unreferenced_files() == []
    is_as_before(store)


def test_a_folder_that_cannot_be_written(store: Store) -> None:
    folder = store.settings.warehouse_dir / "silver" / "t"
    for each in (folder / "data", folder / "metadata"):
        with unwritable(each):
            said = in_a_child(become_nobody, overwrite_small, store.settings)
        assert str(each) in said
        assert "ermission denied" in said and "let this user write there and run it again" in said
    assert store.unreferenced_files() == []
    is_as_before(store)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """A folder that its reader, be it root or its owner, cannot write to; all else can be written by all."""
    root = folder.parents[3]
    for path in (*folder.parents[: len(folder.parts) - 2], root, *root.rglob("*")):
        if path.stat().st_uid == os.geteuid():
            path.chmod(path.stat().st_mode | (0o777 if path.is_dir() else 0o666))
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o777)


def test_a_data_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(StorageError, match=r"^The data folder cannot be written: .*data"):
        open_catalog(Settings(data_dir=tmp_path / "data"))


def vanish(file: Path) -> None:
    for path in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
        path.unlink(missing_ok=True)


def corrupt(file: Path) -> None:
    vanish(file)
    file.write_bytes(b"this is no database" * 100)


def empty(file: Path) -> None:
    vanish(file)
    file.touch()


COMMANDS = (["tables"], ["query", f"from {NAME}"], ["history", NAME], ["maintain"])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (vanish, "is missing, but .* holds tables, such as silver.t: restore the catalog from a backup"),
        (corrupt, "cannot be read .*restore it from a backup"),
        (empty, "cannot be read .*restore it from a backup"),
    ],
)
def test_a_lost_catalog_is_refused_until_it_is_restored(
    store: Store, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None], says: str
) -> None:
    settings = store.settings
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(settings.data_dir))
    backup = settings.data_dir / "backup.db"
    with closing(sqlite3.connect(settings.catalog_file)) as from_, closing(sqlite3.connect(backup)) as to:
        from_.backup(to)
    damage(settings.catalog_file)

    for command in COMMANDS:
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 1 and result.stderr.count("\n") == 1
        assert re.search(says, result.stderr) and "catalog.db" in result.stderr
    with pytest.raises(CatalogError, match=says):
        overwrite_small(Store(settings))
    with pytest.raises(CatalogError, match=r"catalog\.db .*restore it from a backup"):
        overwrite_small(store)  # opened when all was well

    backup.rename(settings.catalog_file)
    assert list(metadata_locations(settings)) == [NAME]
    assert store.unreferenced_files() == []
    is_as_before(store)


def test_an_empty_folder_is_a_new_lake(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    assert metadata_locations(settings) == {}
    assert not settings.data_dir.exists()
    store = Store(settings)
    overwrite_small(store)
    assert store.read(NAME) == [(D1, 1, "new")]
