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

    def at_once(self, work: Callable[..., Any], folder: Path) -> list[Any]:
        """Run the work once in each process: the barrier holds all of them until the last is there."""
        return self.pool.starmap(work, [(folder, number) for number in range(self.count)], chunksize=1)


@contextmanager
def processes(count: int) -> Iterator[Writers]:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(count, join, [spawn.Barrier(count, timeout=120)]) as pool:
        yield Writers(pool, count)


@pytest.fixture
def many() -> Iterator[Writers]:
    with processes(MANY) as writers:
        yield writers


@pytest.fixture(scope="module")
def few() -> Iterator[Writers]:
    with processes(FEW) as writers:
        yield writers


def open_store(folder: Path) -> Store:
    together.wait()  # before the catalog is opened: all of them find an empty folder
    return Store(Settings(data_dir=folder))


def write_own_day(folder: Path, number: int) -> None:
    store = open_store(folder)
    day = START + timedelta(number)
    for _ in range(2):
        store.overwrite("bronze.t", f"select date '{day}' as d, {number} as x, i from range(50) r(i)", [day])


def write_same_day(folder: Path, number: int) -> None:
    store = open_store(folder)
    rows = 100 + number
    for _ in range(2):
        store.overwrite("bronze.t", f"select date '2013-01-01' as d, {number} as x from range({rows})", [D1])


def write_own_column(folder: Path, number: int) -> None:
    store = open_store(folder)
    day = START + timedelta(number)
    store.overwrite("bronze.t", f"select date '{day}' as d, {number} as c{number}", [day])


def append(folder: Path, number: int) -> None:
    store = open_store(folder)
    for load in range(LOADS):
        store.append("bronze.t", f"select {number} as x, {load} as y from range(10)", f"{number}-{load}")


def append_the_same_load(folder: Path, number: int) -> int:
    return open_store(folder).append("bronze.t", "select i from range(10) r(i)", "one load").rows


def read_while_others_write(folder: Path, number: int) -> set[int]:
    """Even numbers overwrite, odd ones read: the row counts they saw."""
    store = open_store(folder)
    counts = set()
    for _ in range(3):
        if number % 2 == 0:
            store.overwrite("bronze.t", "select date '2013-01-02' as d, i as x from range(200) r(i)", [D2])
        else:
            counts.add(len(store.read("bronze.t")))
    return counts


def test_different_partitions_of_a_table_that_nobody_has_made_yet(many: Writers, tmp_path: Path) -> None:
    many.at_once(write_own_day, tmp_path)

    store = Store(Settings(data_dir=tmp_path))
    assert store.read("bronze.t", "count(*), count(distinct (x, i)), count(distinct d)") == [
        (50 * MANY, 50 * MANY, MANY)
    ]
    assert store.snapshots("bronze.t") == 2 * MANY
    assert store.unreferenced_files() == []


def test_the_same_partition_ends_as_one_writers_rows(few: Writers, tmp_path: Path) -> None:
    few.at_once(write_same_day, tmp_path)

    store = Store(Settings(data_dir=tmp_path))
    ((winner, rows),) = store.read("bronze.t", "any_value(x), count(*)")
    assert rows == 100 + winner
    assert store.read("bronze.t", "count(distinct x)") == [(1,)]
    assert store.unreferenced_files() == []


def test_columns_that_writers_add_at_once_are_all_there(few: Writers, tmp_path: Path) -> None:
    few.at_once(write_own_column, tmp_path)

    store = Store(Settings(data_dir=tmp_path))
    columns = ", ".join(f"c{number}" for number in range(FEW))
    rows = store.read("bronze.t", columns)
    assert len(rows) == FEW
    assert {tuple(value for value in row if value is not None) for row in rows} == {
        (number,) for number in range(FEW)
    }


def test_appends_lose_nothing(few: Writers, tmp_path: Path) -> None:
    few.at_once(append, tmp_path)

    store = Store(Settings(data_dir=tmp_path))
    rows = FEW * LOADS
    assert store.read("bronze.t", "count(*), count(distinct (x, y))") == [(rows * 10, rows)]
    assert store.snapshots("bronze.t") == rows


def test_one_load_that_all_bring_is_there_once(few: Writers, tmp_path: Path) -> None:
    rows = few.at_once(append_the_same_load, tmp_path)

    store = Store(Settings(data_dir=tmp_path))
    assert rows == [10] * FEW
    assert store.snapshots("bronze.t") == 1
    assert store.read("bronze.t", "count(*)") == [(10,)]
    assert store.unreferenced_files() == []


def test_readers_see_a_table_whole_while_it_is_written(few: Writers, tmp_path: Path) -> None:
    store = Store(Settings(data_dir=tmp_path))
    store.overwrite("bronze.t", "select date '2013-01-01' as d, i as x from range(100) r(i)", [D1])
    seen = set().union(*few.at_once(read_while_others_write, tmp_path))

    assert seen <= {100, 300}
    assert store.read("bronze.t", "count(*)") == [(300,)]
