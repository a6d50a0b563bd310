"""Loads that are killed at any moment: each chunk is as before or complete, and the next load works."""

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from multiprocessing.process import BaseProcess
from pathlib import Path

from sources import DAILY, Lake

from lakehouse.catalog import metadata_locations
from lakehouse.ingest.load import load
from lakehouse.settings import Settings
from lakehouse.storage import scan
from lakehouse.storage.maintenance import find_leftovers, referred, remove

NAME = DAILY.name
DAYS = [date(2013, 1, day) for day in range(1, 5)]
CHUNKS = [DAYS[:2], DAYS[2:]]  # each is a commit
ROWS = 500  # a day
KILLS = 10
MORE_KILLS = 10  # at most, until there was one before the first commit and one after it
# A process that has imported all this forks one that is killed: seconds less for each.
IMPORTS = [
    "sources",
    "dlt.destinations.impl.filesystem.filesystem",
    "dlt.pipeline.pipeline",
    "lakehouse.catalog.client",
    "lakehouse.ingest.destination",
    "pyarrow.parquet",
    "pyiceberg.io.pyarrow",
]


def load_all(folder: Path) -> None:
    os.setsid()  # it and what it starts are one group
    for chunk in CHUNKS:
        report = load(DAILY, Settings(data_dir=folder), chunk)
        assert report.failures == {}


def begin(lake: Lake) -> BaseProcess:
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(IMPORTS)
    process = forks.Process(target=load_all, args=(lake.settings.data_dir,))
    process.start()
    return process


def kill(process: BaseProcess) -> bool:
    """Kill the whole group; whether that is what ended it."""
    assert process.pid is not None
    if process.is_alive() and os.getpgid(process.pid) == process.pid:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def write_sources(lake: Lake, version: int) -> None:
    for day in DAYS:
        lake.write_day(day, "".join(f"{day},{number},v{version}\n" for number in range(ROWS)))


def new_chunks(lake: Lake, version: int) -> int:
    """How many chunks are of this version; all others are of the one before, and none is in between."""
    scan.pin_current(lake.connection, lake.catalog.load_table(NAME))
    by_day = lake.connection.execute(
        f"select d, name, count(*), count(distinct id) from {NAME} group by all order by d"
    ).fetchall()
    assert [(day, rows, numbers) for day, _, rows, numbers in by_day] == [(day, ROWS, ROWS) for day in DAYS]
    names = [name for _, name, _, _ in by_day]
    old, new = f"v{version - 1}", f"v{version}"
    assert names in ([old] * 4, [new] * 2 + [old] * 2, [new] * 4)
    return names.count(new) // 2


def nothing_needed_is_a_leftover(lake: Lake) -> None:
    table = lake.catalog.load_table(NAME)
    needed = {Path(table.metadata_location), *referred(table.metadata, table.io)}
    assert needed.isdisjoint(leftover.path for leftover in find_leftovers(lake.catalog, NAME, 0))


@dataclass
class Killer:
    """Kills loads of ever new versions, and checks after each what is there.

    Args:
        version: of the source's files that the table holds.
        length: of a whole load, in seconds.
        kills: how many there were, by the number of chunks that had been committed.
    """

    lake: Lake
    version: int = 0
    length: float = 0.0
    kills: Counter[int] = field(default_factory=Counter)

    def load(self, until: Callable[[BaseProcess], None]) -> None:
        """Begin a load of the next version and kill it; what it left half done the next load completes."""
        self.version += 1
        write_sources(self.lake, self.version)
        process = begin(self.lake)
        until(process)
        killed = kill(process)
        assert killed or process.exitcode == 0
        done = new_chunks(self.lake, self.version)
        nothing_needed_is_a_leftover(self.lake)
        if killed:
            self.kills[done] += 1
        if done == 0:
            self.version -= 1
        elif done < len(CHUNKS):
            self.load_whole()

    def load_whole(self) -> None:
        started = time.monotonic()
        process = begin(self.lake)
        process.join()
        assert process.exitcode == 0
        self.length = time.monotonic() - started


def test_a_load_that_is_killed_at_any_moment_leaves_whole_chunks(lake: Lake) -> None:
    write_sources(lake, 0)
    killer = Killer(lake)
    killer.load_whole()  # imports what the others find imported
    killer.load_whole()
    moments = random.Random(7)

    for number in range(KILLS):
        moment = (number + moments.random()) / KILLS * killer.length
        killer.load(lambda process, moment=moment: process.join(moment))
    for _ in range(MORE_KILLS):
        if not killer.kills[0]:
            killer.load(lambda process: process.join(0.05))
        if not killer.kills[1] + killer.kills[2]:
            killer.load(lambda process: wait_for_a_commit(lake, process))

    assert killer.kills[0] and killer.kills[1] + killer.kills[2]
    killer.version += 1
    write_sources(lake, killer.version)
    killer.load_whole()
    assert new_chunks(lake, killer.version) == len(CHUNKS)
    remove(find_leftovers(lake.catalog, NAME, 0), lake.settings.warehouse_dir / "bronze" / "daily")
    assert new_chunks(lake, killer.version) == len(CHUNKS)


def wait_for_a_commit(lake: Lake, process: BaseProcess) -> None:
    before = metadata_locations(lake.settings)
    while process.is_alive() and metadata_locations(lake.settings) == before:
        process.join(0.002)
