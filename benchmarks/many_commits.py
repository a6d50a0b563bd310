"""A table of a thousand partitions: what a commit and the read of one partition cost."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.lake import Rows, open_lake
from benchmarks.measure import measure
from benchmarks.results import Result

TITLE = "Many partitions, a commit each, default retention"
FEW, MANY = 10, 1000
NEAR = 9  # commits around the 10th and before the 1,000th whose median counts
READS = 30
ANSWERS = 5
FIRST = date(2013, 1, 1)


def commits(data_dir: str) -> dict[str, Any]:
    """Commit the partitions one by one, each a new day of 1,000 flights; times of each commit and read."""
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    catalog, connection = open_lake(data_dir)
    spec = TableSpec("bronze.flights", partition_by="flight_date")
    seconds, reads = [], {}
    for number in range(MANY):
        day = FIRST + timedelta(number)
        columns = ", ".join(f"(i * {n}) % 2400 as column_{n}" for n in range(1, 19))
        rows = Rows(connection, f"select date '{day}' as flight_date, {columns} from range(1000) as t(i)")
        started = time.perf_counter()
        write.overwrite_partitions(catalog, spec, rows, [day])
        seconds.append(time.perf_counter() - started)
        if number + 1 in (FEW, MANY):
            reads[number + 1] = _read(data_dir, number // 2), _answer(data_dir, number // 2)
    early = median(seconds[FEW - 1 - NEAR // 2 : FEW + NEAR // 2])
    return {"seconds": sum(seconds), "early": early, "late": median(seconds[-NEAR:]), "reads": reads}


def _read(data_dir: str, day: int) -> float:
    """Seconds from finding the table in the catalog to the rows of one day."""
    from lakehouse.storage import scan

    catalog, connection = open_lake(data_dir)
    wanted = FIRST + timedelta(day)
    times = []
    for _ in range(READS):
        started = time.perf_counter()
        scan.pin_current(connection, catalog.load_table("bronze.flights"))
        rows = connection.execute(
            f"select count(*), sum(column_7) from bronze.flights where flight_date = date '{wanted}'"
        ).fetchall()
        times.append(time.perf_counter() - started)
        assert rows[0][0] == 1000  # noqa: PLR2004
    return median(times)


def _answer(data_dir: str, day: int) -> float:
    """Seconds from asking `lakehouse query` for the same to its end."""
    sql = f"select count(*), sum(column_7) from bronze.flights where flight_date = '{FIRST + timedelta(day)}'"
    command = [sys.executable, "-c", "from lakehouse.cli import main; main()", "query", sql]
    times = []
    for _ in range(ANSWERS):
        started = time.perf_counter()
        subprocess.run(
            command, check=True, env=os.environ | {"LAKEHOUSE_DATA_DIR": data_dir}, stdout=subprocess.DEVNULL
        )
        times.append(time.perf_counter() - started)
    return median(times)


def run(folder: Path) -> Iterator[Result]:
    """The 1,000th commit beside the 10th, and a read of one partition beside the same of 10."""
    done = measure(commits, data_dir=str(folder / "lake"))
    early, late = done.values["early"], done.values["late"]
    yield Result(
        "the 1,000th commit beside the 10th",
        late / early,
        3,
        "times",
        f"{late * 1e3:.0f} ms; {early * 1e3:.0f} ms",
    )
    (few, asked_few), (many, asked_many) = (done.values["reads"][str(count)] for count in (FEW, MANY))
    yield Result(
        "one partition of 1,000 beside one of 10, asked by `lakehouse query`",
        asked_many / asked_few,
        2,
        "times",
        f"{asked_many:.2f} s; {asked_few:.2f} s",
    )
    yield Result(
        "the same in a process that is running already",
        many / few,
        2,
        "times",
        f"{many * 1e3:.0f} ms; {few * 1e3:.0f} ms, the look into the catalog included",
    )
