"""A table of many commits: it keeps so many snapshots, stays quick to read, and leaves no file for ever."""

import os
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from store import D1, D2, Store

from lakehouse.settings import Settings
from lakehouse.storage import scan, write
from lakehouse.storage.errors import StorageError
from lakehouse.storage.history import snapshot_as_of
from lakehouse.storage.maintenance import find_leftovers, remove, table_folder
from lakehouse.storage.producer import MANIFESTS_TO_MERGE
from lakehouse.storage.tables import TableSpec

NAME = "silver.days"
DAYS = [date(2013, 1, 1) + timedelta(day) for day in range(3 * MANIFESTS_TO_MERGE)]
DAY_OLD = 24


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


def write_day(store: Store, day: date, keep: int = 5, value: int = 1) -> None:
    rows = store.rows(f"select date '{day}' as d, {value} as x")
    write.overwrite_partitions(store.catalog, TableSpec(NAME, "d", keep_snapshots=keep), rows, [day])


def age(folder: Path, hours: float) -> None:
    """Let every file below a folder look so old."""
    then = time.time() - hours * 3600
    for path in folder.rglob("*"):
        os.utime(path, (then, then))


def expected(days: Sequence[date], value: int = 1) -> list[tuple[Any, ...]]:
    return sorted(((day, value) for day in days), key=str)


def test_many_commits_keep_few_snapshots_and_few_manifests(store: Store) -> None:
    for day in DAYS:
        write_day(store, day)
    table = store.table(NAME)
    assert len(table.metadata.snapshots) == 5
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(table.io)) <= MANIFESTS_TO_MERGE
    assert store.read(NAME) == expected(DAYS)


def test_partitions_of_merged_manifests_can_be_replaced_again(store: Store) -> None:
    for day in DAYS:
        write_day(store, day)
    for day in DAYS[::7]:
        write_day(store, day, value=2)
    again = set(DAYS[::7])
    assert store.read(NAME) == sorted(((day, 2 if day in again else 1) for day in DAYS), key=str)


def test_a_tagged_snapshot_stays(store: Store) -> None:
    write_day(store, D1)
    first = store.table(NAME).metadata.current_snapshot_id
    assert first is not None
    store.table(NAME).manage_snapshots().create_tag(first, "audited").commit()
    for value in range(8):
        write_day(store, D1, keep=3, value=value)
    kept = {snapshot.snapshot_id for snapshot in store.table(NAME).metadata.snapshots}
    assert first in kept
    assert len(kept) == 4


def test_leftovers_are_found_when_old_and_removed_alone(store: Store) -> None:
    for value in range(8):
        write_day(store, D1, keep=2, value=value)
    write_day(store, D2, keep=2)
    folder = table_folder(store.catalog, NAME)
    staged = folder / "data" / "killed" / "rows.parquet"
    staged.parent.mkdir()
    staged.write_bytes(b"half of a file")
    before = store.read(NAME)

    assert find_leftovers(store.catalog, NAME, DAY_OLD) == []
    age(folder, DAY_OLD + 1)
    leftovers = find_leftovers(store.catalog, NAME, DAY_OLD)
    assert staged in {leftover.path for leftover in leftovers}
    assert {str(leftover.path) for leftover in leftovers} >= set(store.unreferenced_files())

    remove(leftovers, folder)
    assert store.read(NAME) == before
    assert store.unreferenced_files() == []
    assert not staged.parent.exists()
    for snapshot in store.table(NAME).metadata.snapshots:
        assert store.table(NAME).scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows > 0
    write_day(store, D2, value=9)
    assert (D2, 9) in store.read(NAME)


def test_a_reader_keeps_its_snapshot_while_many_commit(store: Store) -> None:
    write_day(store, D1, keep=1)
    scan.pin_current(store.connection, store.table(NAME))
    for value in range(2, 110):
        write_day(store, D2, keep=1, value=value)
    assert store.connection.execute(f"select * from {NAME}").fetchall() == [(D1, 1)]


def test_maintenance_leaves_a_reader_what_was_current_a_moment_ago(store: Store) -> None:
    write_day(store, D1, keep=1)
    folder = table_folder(store.catalog, NAME)
    age(folder, DAY_OLD + 1)
    scan.pin_current(store.connection, store.table(NAME))
    write_day(store, D1, keep=1, value=2)

    assert find_leftovers(store.catalog, NAME, DAY_OLD) == []
    assert store.connection.execute(f"select * from {NAME}").fetchall() == [(D1, 1)]
    age(folder, DAY_OLD + 1)
    write_day(store, D1, keep=1, value=3)
    age(folder, DAY_OLD + 1)
    remove(find_leftovers(store.catalog, NAME, DAY_OLD), folder)
    assert store.unreferenced_files() == []


def test_a_time_of_which_only_a_tag_is_left_is_refused(store: Store) -> None:
    write_day(store, D1, keep=1, value=0)
    first = store.table(NAME).metadata.current_snapshot_id
    assert first is not None
    store.table(NAME).manage_snapshots().create_tag(first, "audited").commit()
    times = []
    for value in (1, 2, 3):
        write_day(store, D1, keep=1, value=value)
        times.append(datetime.now(UTC))
    table = store.table(NAME)
    assert snapshot_as_of(table, times[2], NAME) == table.metadata.current_snapshot_id
    with pytest.raises(StorageError, match="cannot be read as of"):
        snapshot_as_of(table, times[0], NAME)
