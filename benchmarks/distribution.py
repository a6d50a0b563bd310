"""Profiling and judging the flights of 2013 by day, and what of 2013 is caught by it, or disturbed."""

import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.lake import Rows, open_lake
from benchmarks.measure import measure
from benchmarks.results import Result
from demo.shifts import SHIFTS, read_year, shares

TITLE = "Distribution"
CHUNK = 31
TIMES = 3


def audit(folder: str, data_dir: str) -> dict[str, Any]:
    """Profile, judge and keep a year by chunks, then a day alone, as writes do; in milliseconds."""
    from lakehouse.quality.distribution.audit import DistributionAudit
    from lakehouse.quality.distribution.profile_table import ProfileTable
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    year = read_year(Path(folder))
    catalog, connection = open_lake(data_dir)
    connection.register("flights", year.connection.execute("from flights").to_arrow_table())
    spec = TableSpec("silver.flights", partition_by="flight_date")
    write.replace(catalog, spec, Rows(connection, "from flights"))
    files = dict(_files(catalog.load_table("silver.flights")))
    declared = year.contract.distribution
    assert declared is not None
    table = ProfileTable(catalog, "silver.flights", keep_snapshots=100)
    auditing = DistributionAudit(declared, table, connection, "bench", "flight_date", "day")
    published: dict[date, int] = {}

    def compare(days: list[date]) -> None:
        paths = ", ".join(f"'{files[day]}'" for day in days)
        auditing.begin(f"from read_parquet([{paths}], hive_partitioning = false)", days, published)
        for day in days:
            assert not any(result.refuses for result in auditing.judge(day, empty=False))
            auditing.accept(day)

    compared, kept = 0.0, 0.0
    days = sorted(files)
    for start in range(0, len(days), CHUNK):
        chunk = days[start : start + CHUNK]
        compared += _seconds(compare, chunk)
        kept += _seconds(auditing.keep, chunk, None)
        published |= {day: year.profiles[day].rows for day in chunk}
    alone = _seconds(compare, days[-1:]) + _seconds(auditing.keep, days[-1:], None)
    each = {"compare": 1000 * compared / len(days), "keep": 1000 * kept / len(days), "alone": 1000 * alone}
    return {"seconds": compared + kept, "days": len(days), **each}


def _files(table: Any) -> Iterator[tuple[date, str]]:
    for file in table.inspect.files().to_pylist():
        yield file["partition"]["flight_date"], file["file_path"].removeprefix("file://")


def _seconds(work: Callable[..., None], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def judge(folder: str) -> dict[str, Any]:
    """The shares of days that do not pass, and that are not published: as they were, and shifted."""
    started = time.perf_counter()
    year = read_year(Path(folder))
    found = {shift: shares(year.judged(query)) for shift, query in {"": "from flights", **SHIFTS}.items()}
    return {"seconds": time.perf_counter() - started, "found": found}


def run(folder: Path) -> Iterator[Result]:
    """What it costs, what it disturbs and what it catches."""
    spent = [
        measure(audit, folder=str(folder), data_dir=str(folder / f"lake{time_}")) for time_ in range(TIMES)
    ]
    best = min(spent, key=lambda one: one.seconds).values
    cost = f"{best['days']} days in chunks of {CHUNK}, best of {TIMES}"
    yield Result("profile and judge a day of flights", best["compare"], 20, "ms", cost)
    yield Result("keep its profile", best["keep"], 10, "ms", cost)
    yield Result("profile, judge and keep a day alone", best["alone"], 300, "ms", "after the year; best of 3")
    found = measure(judge, folder=str(folder)).values["found"]
    for shift, (not_passed, refused) in found.items():
        what = (
            f"days of 2013 with {shift} that do not pass"
            if shift
            else "days of 2013 as they were that do not pass"
        )
        detail = f"{100 * refused:.1f} % are not published"
        goal = 95 if shift else 5
        yield Result(what, 100 * not_passed, goal, "%", detail, at_least=bool(shift))
