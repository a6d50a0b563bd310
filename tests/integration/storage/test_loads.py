"""A load that comes twice changes nothing; one that is not in the table any more comes again."""

import pytest
from store import Store

from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec

NAME = "bronze.t"


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


def append(store: Store, number: int, keep: int = 100) -> None:
    spec = TableSpec(NAME, keep_snapshots=keep)
    write.append(store.catalog, spec, store.rows(f"select {number} as x"), f"load-{number}")


def test_a_load_that_was_rolled_back_can_come_again(store: Store) -> None:
    append(store, 1)
    first = store.table(NAME).metadata.current_snapshot_id
    assert first is not None
    append(store, 2)
    store.table(NAME).manage_snapshots().rollback_to_snapshot(first).commit()
    append(store, 2)
    assert store.read(NAME) == [(1,), (2,)]


def test_a_load_that_was_replaced_can_come_again(store: Store) -> None:
    append(store, 1)
    store.replace(NAME, "select 9 as x")
    append(store, 1)
    assert store.read(NAME) == [(1,), (9,)]


def test_a_load_is_known_after_its_snapshot_is_dropped(store: Store) -> None:
    for number in (1, 2, 3, 4, 1, 2):
        append(store, number, keep=2)
    assert store.read(NAME) == [(1,), (2,), (3,), (4,)]


def test_a_dropped_load_that_was_replaced_can_come_again(store: Store) -> None:
    append(store, 1, keep=1)
    write.replace(store.catalog, TableSpec(NAME, keep_snapshots=1), store.rows("select 9 as x"))
    append(store, 2, keep=1)
    append(store, 1, keep=1)
    assert store.read(NAME) == [(1,), (2,), (9,)]


def test_a_load_that_was_rolled_back_can_come_again_after_its_snapshot_is_dropped(store: Store) -> None:
    append(store, 1, keep=3)
    first = store.table(NAME).metadata.current_snapshot_id
    assert first is not None
    append(store, 2, keep=3)
    store.table(NAME).manage_snapshots().rollback_to_snapshot(first).commit()
    for number in (3, 4, 5, 6, 2, 1):
        append(store, number, keep=3)
    assert store.read(NAME) == [(1,), (2,), (3,), (4,), (5,), (6,)]


def test_a_merge_that_changed_nothing_is_remembered(store: Store) -> None:
    key = MergeKey(("id",), deleted="gone")

    def merge(load: str, gone: bool) -> None:
        rows = store.rows(f"select 1 as id, {gone} as gone")
        write.merge(store.catalog, TableSpec(NAME), rows, key, load_id=load)

    merge("first", gone=False)
    merge("delete", gone=True)
    merge("delete again", gone=True)
    merge("insert", gone=False)
    merge("delete again", gone=True)
    assert store.read(NAME, "id") == [(1,)]
