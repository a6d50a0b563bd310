"""What arrives every day: a CSV file of flights and a JSON file of hourly weather, a local day each.

The weather ends on 30 December 2013: the day after it, a file arrives that has no lines.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path

from demo.data import data_folder, read_rows
from lakehouse.clock import days_there_are
from lakehouse.settings import Settings

FIRST, LAST = date(2013, 1, 1), date(2013, 12, 31)
TEXTS = ("origin", "time_hour")  # of the weather; all else are numbers


def days() -> list[date]:
    """Every day of the demo's year."""
    return [FIRST + timedelta(number) for number in range((LAST - FIRST).days + 1)]


def flights_by_day() -> dict[date, str]:
    """Text of each day's CSV file: the source's own lines, cut by local day."""
    archive = data_folder() / "flights.csv.zip"
    with zipfile.ZipFile(archive) as files, files.open("flights.csv") as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        header = next(lines)
        files_of: dict[date, list[str]] = {day: [header] for day in days()}
        for line in lines:
            year, month, day, _ = line.split(",", 3)
            files_of[date(int(year), int(month), int(day))].append(line)
    return {day: "".join(lines) for day, lines in files_of.items()}


def weather_by_day() -> dict[date, str]:
    """Text of each day's JSON file: one object an airport and hour, nothing for a day without weather."""
    files_of: dict[date, list[str]] = {day: [] for day in days()}
    for row in read_rows("weather.csv"):
        observation = {name: text if name in TEXTS else _number(text) for name, text in row.items()}
        day = date(observation["year"], observation["month"], observation["day"])  # type: ignore[arg-type]
        files_of[day].append(json.dumps(observation) + "\n")
    return {day: "".join(lines) for day, lines in files_of.items()}


def missing_days(settings: Settings) -> list[date]:
    """The days until today of which a file has not arrived, of a sample those that are in it.

    Raises:
        ValueError: no day has passed.
    """
    first, end = days_there_are(FIRST, LAST + timedelta(days=1), settings)
    return [
        day
        for day in days()
        if first <= day < (end or date.max)
        and not all(file.exists() for file in files_of_day(settings.source_dir, day))
    ]


def files_of_day(source_dir: Path, day: date) -> tuple[Path, Path]:
    """Where a day's flights and weather arrive."""
    return source_dir / "flights" / f"{day}.csv", source_dir / "weather" / f"{day}.ndjson"


def write_days(source_dir: Path, wanted: Iterable[date]) -> Iterator[tuple[Path, int]]:
    """Write or rewrite the files of some days; yields each file and its rows."""
    flights, weather = flights_by_day(), weather_by_day()
    for day in wanted:
        csv_file, json_file = files_of_day(source_dir, day)
        write_whole(csv_file, flights[day])
        yield csv_file, flights[day].count("\n") - 1
        write_whole(json_file, weather[day])
        yield json_file, weather[day].count("\n")


def write_whole(file: Path, text: str) -> None:
    """Write a file aside and rename it: whoever looks for files never sees half of one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(text, encoding="utf-8", newline="")
    partial.replace(file)


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)
