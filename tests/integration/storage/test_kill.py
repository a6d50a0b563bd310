"""A process that is killed while it writes leaves the table as before or complete."""

import multiprocessing
import random
from multiprocessing.connection import Connection
from pathlib import Path

from store import D1, D2, Store

from lakehouse.settings import Settings

ROWS = 20_000
KILLS = 5


def overwrite_for_ever(folder: Path, first: int, ready: Connection) -> None:
    store = Store(Settings(data_dir=folder))
    version = first
    while True:
        days = "date '2013-01-01' + (i % 2)::int"
        store.overwrite("bronze.t", f"select {days} as d, {version} as x from range({ROWS}) r(i)", [D1, D2])
        version += 1
        if version == first + 1:
            ready.send(True)


def test_killed_writers_leave_whole_tables(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    moments = random.Random(7)
    for kill in range(KILLS):
        listener, ready = spawn.Pipe(duplex=False)
        writer = spawn.Process(target=overwrite_for_ever, args=(tmp_path, kill * 1_000_000, ready))
        writer.start()
        assert listener.recv()
        writer.join(moments.uniform(0.05, 0.4))  # somewhere in one of the next writes
        assert writer.is_alive()
        writer.kill()
        writer.join()

        store = Store(Settings(data_dir=tmp_path))
        counted = store.read("bronze.t", "count(*), count(distinct x), count(distinct d)")
        assert counted == [(ROWS, 1, 2)]
        version = store.read("bronze.t", "max(x)")[0][0]
        assert version >= kill * 1_000_000

    store.overwrite("bronze.t", "select date '2013-01-01' as d, -1 as x", [D1, D2])
    assert store.read("bronze.t") == [(D1, -1)]
