"""Real processes that write one table at once: nothing lost, nothing doubled, nobody locked out."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import pytest
from postgres import Postgres
from store import D1, D2, Store

from lakehouse.settings import Settings

MANY, FEW = 32, 8  # what many writers do to one partition, one column list or one load, few do as well
LOADS = 2  # each a snapshot, of which a table keeps 100
START = date(2013, 1, 1)
together: Any = None


def join(barrier: Any) -> None:
    global together  # noqa: PLW0603  # how a pool's initializer hands over what cannot be pickled
    together = barrier


@dataclass(frozen=True)
class Writers:
    pool: Pool
    count: int

    def at_once(self, work: Callable[..., Any], settings: Settings) -> list[Any]:
        """Run the work once in each process: the barrier holds all of them until the last is there."""
        return self.pool.starmap(work, [(settings, number) for number in range(self.count)], chunksize=1)


@contextmanager
def processes(count: int) -> Iterator[Writers]:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(count, join, [spawn.Barrier(count, timeout=120)]) as pool:
        yield Writers(pool, count)


@pytest.fixture(scope="module")
def few() -> Iterator[Writers]:
    with processes(FEW) as writers:
        yield writers


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres) -> Settings:
    """A lake that nobody has opened yet; a `serializable` Postgres refuses what it would else let wait."""
    if request.param == "sqlite":
        return Settings(data_dir=tmp_path)
    isolation = "read committed" if request.param == "postgres" else "serializable"
    database = postgres.new_database(f"default_transaction_isolation = '{isolation}'")
    return Settings(data_dir=tmp_path, catalog_uri=database)


def open_store(settings: Settings) -> Store:
    together.wait()  # before the catalog is opened: all of them find an empty folder and database
    return Store(settings)


def write_own_day(settings: Settings, number: int) -> None:
    store = open_store(settings)
    day = START + timedelta(number)
    for _ in range(2):
        store.overwrite("bronze.t", f"select date '{day}' as d, {number} as x, i from range(50) r(i)", [day])


def write_same_day(settings: Settings, number: int) -> None:
    store = open_store(settings)
    rows = 100 + number
    for _ in range(2):
        store.overwrite("bronze.t", f"select date '2013-01-01' as d, {number} as x from range({rows})", [D1])


def write_own_column(settings: Settings, number: int) -> None:
    store = open_store(settings)
    day = START + timedelta(number)
    store.overwrite("bronze.t", f"select date '{day}' as d, {number} as c{number}", [day])


def append(settings: Settings, number: int) -> None:
    store = open_store(settings)
    for load in range(LOADS):
        store.append("bronze.t", f"select {number} as x, {load} as y from range(10)", f"{number}-{load}")


def append_the_same_load(settings: Settings, number: int) -> int:
    return open_store(settings).append("bronze.t", "select i from range(10) r(i)", "one load").rows


def read_while_others_write(settings: Settings, number: int) -> set[int]:
    """Even numbers overwrite, odd ones read: the row counts they saw."""
    store = open_store(settings)
    counts = set()
    for _ in range(3):
        if number % 2 == 0:
            store.overwrite("bronze.t", "select date '2013-01-02' as d, i as x from range(200) r(i)", [D2])
        else:
            counts.add(len(store.read("bronze.t")))
    return counts


def test_many_writers_of_a_table_that_nobody_has_made_yet(tmp_path: Path) -> None:
    with processes(MANY) as many:
        all_days_are_there(many, Settings(data_dir=tmp_path))


def test_different_partitions_of_a_table_that_nobody_has_made_yet(few: Writers, settings: Settings) -> None:
    all_days_are_there(few, settings)


def all_days_are_there(writers: Writers, settings: Settings) -> None:
    writers.at_once(write_own_day, settings)

    store = Store(settings)
    assert store.read("bronze.t", "count(*), count(distinct (x, i)), count(distinct d)") == [
        (50 * writers.count, 50 * writers.count, writers.count)
    ]
    assert store.snapshots("bronze.t") == 2 * writers.count
    assert store.unreferenced_files() == []


@pytest.mark.parametrize("settings", ["sqlite", "postgres", "serializable"], indirect=True)
def test_the_same_partition_ends_as_one_writers_rows(few: Writers, settings: Settings) -> None:
    few.at_once(write_same_day, settings)

    store = Store(settings)
    ((winner, rows),) = store.read("bronze.t", "any_value(x), count(*)")
    assert rows == 100 + winner
    assert store.read("bronze.t", "count(distinct x)") == [(1,)]
    assert store.unreferenced_files() == []


def test_columns_that_writers_add_at_once_are_all_there(few: Writers, settings: Settings) -> None:
    few.at_once(write_own_column, settings)

    store = Store(settings)
    columns = ", ".join(f"c{number}" for number in range(FEW))
    rows = store.read("bronze.t", columns)
    assert len(rows) == FEW
    assert {tuple(value for value in row if value is not None) for row in rows} == {
        (number,) for number in range(FEW)
    }


def test_appends_lose_nothing(few: Writers, settings: Settings) -> None:
    few.at_once(append, settings)

    store = Store(settings)
    rows = FEW * LOADS
    assert store.read("bronze.t", "count(*), count(distinct (x, y))") == [(rows * 10, rows)]
    assert store.snapshots("bronze.t") == rows


def test_one_load_that_all_bring_is_there_once(few: Writers, settings: Settings) -> None:
    rows = few.at_once(append_the_same_load, settings)

    store = Store(settings)
    assert rows == [10] * FEW
    assert store.snapshots("bronze.t") == 1
    assert store.read("bronze.t", "count(*)") == [(10,)]
    assert store.unreferenced_files() == []


def test_readers_see_a_table_whole_while_it_is_written(few: Writers, settings: Settings) -> None:
    store = Store(settings)
    store.overwrite("bronze.t", "select date '2013-01-01' as d, i as x from range(100) r(i)", [D1])
    seen = set().union(*few.at_once(read_while_others_write, settings))

    assert seen <= {100, 300}
    assert store.read("bronze.t", "count(*)") == [(300,)]
