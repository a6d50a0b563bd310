"""Overwriting a window of time: exactly its rows, also in files that straddle its edge."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from store import Store

from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.errors import PartitionMismatchError, StorageError
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.time_window import TimeWindow

NAME = "silver.events"
HOURS = (
    "select i as id, timestamptz '2013-01-01 00:00:00+00' + to_hours(i::int) as at from range({}, {}) r(i)"
)
NOON_TO_NOON = TimeWindow("at", datetime(2013, 1, 1, 12, tzinfo=UTC), datetime(2013, 1, 2, 12, tzinfo=UTC))


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


def overwrite(store: Store, sql: str, window: TimeWindow) -> write.WriteResult:
    return write.overwrite_window(store.catalog, TableSpec(NAME), store.rows(sql), window)


def ids(store: Store) -> list[Any]:
    return sorted(row[0] for row in store.read(NAME, "id"))


def test_rows_on_both_sides_of_the_edges_stay(store: Store) -> None:
    for start in (0, 10, 20, 30, 40):  # 10 to 19 and 30 to 39 straddle the edges at 12 and 36
        store.append(NAME, HOURS.format(start, start + 10), f"load-{start}")
    before = {task.file.file_path for task in store.table(NAME).scan().plan_files()}

    result = overwrite(store, "select 100 as id, timestamptz '2013-01-01 13:30:00+00' as at", NOON_TO_NOON)

    assert result.rows == 1
    assert ids(store) == [*range(12), *range(36, 50), 100]
    after = {task.file.file_path for task in store.table(NAME).scan().plan_files()}
    assert len(before & after) == 2  # the files of 0 to 9 and 40 to 49 were not touched
    assert store.snapshots(NAME) == 6


def test_done_twice_it_is_the_same(store: Store) -> None:
    store.append(NAME, HOURS.format(0, 48), "load")
    for _ in range(2):
        overwrite(store, HOURS.format(12, 36), NOON_TO_NOON)
        assert ids(store) == list(range(48))


def test_an_empty_window_takes_its_rows_out(store: Store) -> None:
    store.append(NAME, HOURS.format(0, 48), "load")
    overwrite(store, HOURS.format(0, 0), NOON_TO_NOON)
    assert ids(store) == [*range(12), *range(36, 48)]


def test_rows_without_a_time_stay_and_new_ones_are_refused(store: Store) -> None:
    store.append(NAME, HOURS.format(0, 20) + " union all select 99, null", "load")
    overwrite(store, HOURS.format(12, 13), NOON_TO_NOON)
    assert ids(store) == [*range(13), 99]
    with pytest.raises(PartitionMismatchError, match=r"silver\.events: 1 rows are not of the window"):
        overwrite(store, "select 7 as id, null::timestamptz as at", NOON_TO_NOON)


def test_a_row_outside_the_window_is_refused_and_nothing_changes(store: Store) -> None:
    store.append(NAME, HOURS.format(0, 20), "load")
    with pytest.raises(PartitionMismatchError, match="from 2013-01-01 12:00"):
        overwrite(store, HOURS.format(12, 40), NOON_TO_NOON)
    assert ids(store) == list(range(20))
    assert store.unreferenced_files() == []


def test_a_window_of_dates_and_one_that_is_none(store: Store) -> None:
    days = "select date '2013-01-01' + i::int as at, i as id from range({}, {}) r(i)"
    store.append(NAME, days.format(0, 10), "load")
    overwrite(store, days.format(2, 3), TimeWindow("at", date(2013, 1, 3), date(2013, 1, 6)))
    assert ids(store) == [0, 1, 2, *range(5, 10)]
    with pytest.raises(StorageError, match="before it begins"):
        TimeWindow("at", date(2013, 1, 6), date(2013, 1, 3))
