"""Another writer comes between staging and commit: nothing of either is lost, nothing is there twice."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import StringType
from store import D1, D2, Store, once

from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.maintenance import find_leftovers, referred
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.time_window import TimeWindow

NAME = "silver.t"
KEY = MergeKey(("id",), cursor="version")


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


@pytest.fixture
def other_writer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Let an action happen right before the next commit reaches the catalog, once."""

    def before_the_next_commit(action: Callable[[], Any]) -> None:
        commit, pending = Table._do_commit, [action]

        def do_commit(self: Table, *args: Any, **kwargs: Any) -> None:
            if pending:
                pending.pop()()
            commit(self, *args, **kwargs)

        monkeypatch.setattr(Table, "_do_commit", do_commit)

    return before_the_next_commit


def merge(store: Store, sql: str) -> None:
    write.merge(store.catalog, TableSpec(NAME), store.rows(sql), KEY)


def test_two_merges_of_different_keys(store: Store, other_writer: Any) -> None:
    store.replace(NAME, "select i as id, 0 as version from range(3) r(i)")
    other_writer(lambda: merge(store, "select 1 as id, 1 as version"))
    merge(store, "select 2 as id, 1 as version union all select 7, 1")
    assert store.read(NAME) == [(0, 0), (1, 1), (2, 1), (7, 1)]
    assert store.unreferenced_files() == []


def test_two_merges_of_one_key_end_with_the_newer(store: Store, other_writer: Any) -> None:
    store.replace(NAME, "select 1 as id, 0 as version")
    other_writer(lambda: merge(store, "select 1 as id, 5 as version"))
    merge(store, "select 1 as id, 3 as version")
    assert store.read(NAME) == [(1, 5)]


def test_a_merge_and_the_replacement_of_a_file_that_it_wrote_again(store: Store, other_writer: Any) -> None:
    store.replace(NAME, "select i as id, 0 as version from range(3) r(i)")
    other_writer(lambda: store.replace(NAME, "select 5 as id, 0 as version"))
    merge(store, "select 2 as id, 1 as version")
    assert store.read(NAME) == [(2, 1), (5, 0)]


def test_two_windows_whose_edges_are_in_one_file(store: Store, other_writer: Any) -> None:
    times = "select timestamp '2013-01-01' + to_hours(i) as at, {} as x from range({}, {}) r(i)"
    store.replace(NAME, times.format(0, 0, 4))

    def overwrite(hour: int, x: int) -> None:
        rows = store.rows(times.format(x, hour, hour + 1))
        (low,), (high,) = store.connection.execute(
            f"select timestamp '2013-01-01' + to_hours(i::int) from range({hour}, {hour + 2}) r(i)"
        ).fetchall()
        write.overwrite_window(store.catalog, TableSpec(NAME), rows, TimeWindow("at", low, high))

    other_writer(lambda: overwrite(1, 11))
    overwrite(2, 22)
    assert store.read(NAME, "x") == [(0,), (0,), (11,), (22,)]


def test_a_column_dropped_and_added_again_does_not_lose_new_values(store: Store) -> None:
    store.append(NAME, "select 1 as x, 'a' as y", "1")

    def drop_and_add() -> None:
        table = store.table(NAME)
        with table.update_schema(allow_incompatible_changes=True) as update:
            update.delete_column("y")
        with table.update_schema() as update:
            update.add_column("y", StringType())

    store.append(NAME, "select 2 as x, 'b' as y", "2", audit=once(drop_and_add))
    assert store.read(NAME) == [(1, None), (2, "b")]


def test_a_commit_whose_answer_was_lost_is_found_after_its_snapshot_is_dropped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overwrite(day: date, x: int) -> None:
        rows = store.rows(f"select date '{day}' as d, {x} as x")
        write.overwrite_partitions(store.catalog, TableSpec(NAME, "d", keep_snapshots=1), rows, [day])

    overwrite(D1, 0)
    commit = Table._do_commit

    def landed_but_failed(self: Table, *args: Any, **kwargs: Any) -> None:
        monkeypatch.setattr(Table, "_do_commit", commit)
        commit(self, *args, **kwargs)
        overwrite(D2, 2)
        raise OSError("the answer was lost")

    monkeypatch.setattr(Table, "_do_commit", landed_but_failed)
    overwrite(D1, 1)
    assert store.read(NAME) == [(D1, 1), (D2, 2)]


def test_maintenance_reads_past_the_metadata_of_a_commit_that_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays, and names a manifest list that was removed when the race was lost."""
    write_metadata, pending = SqlCatalog._write_metadata, [True]

    def other_writer_first(metadata: Any, io: Any, metadata_path: str) -> None:
        write_metadata(metadata, io, metadata_path)
        if pending:
            pending.pop()
            store.append(NAME, "select 2 as x", "theirs")

    store.append(NAME, "select 1 as x", "first")
    monkeypatch.setattr(SqlCatalog, "_write_metadata", staticmethod(other_writer_first))
    store.append(NAME, "select 3 as x", "mine")
    table = store.table(NAME)
    leftovers = {leftover.path for leftover in find_leftovers(store.catalog, NAME, 0)}
    assert leftovers.isdisjoint(referred(table.metadata, table.io))
    assert find_leftovers(store.catalog, NAME, 24) == []
    assert store.read(NAME) == [(1,), (2,), (3,)]
