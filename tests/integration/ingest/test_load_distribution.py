"""A load's partitions are compared with those that were loaded before, by date."""

import dataclasses
from datetime import date, timedelta
from pathlib import Path

from daily_contract import daily_columns
from sources import D1, DAILY, Lake

from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.source import BronzeSource

KS = "distribution_id_ks"
DISTRIBUTION = "distribution: {baseline: 4, enough: 2, columns: {id: {ks: {fail: 0.5}}}}\n"
DAYS = [D1 + timedelta(number) for number in range(4)]


def compared(folder: Path) -> BronzeSource:
    daily_columns(folder)
    file = folder / "bronze" / "daily.yml"
    file.write_text(file.read_text() + DISTRIBUTION)
    return dataclasses.replace(DAILY, columns=read_columns(file))


def rows(day: date, first: int) -> str:
    return "".join(f"{day},{number},a\n" for number in range(first, first + 10))


def test_a_load_is_compared_with_earlier_loads_and_with_the_days_of_its_own(
    lake: Lake, tmp_path: Path
) -> None:
    source = compared(tmp_path)
    lake.load(source, DAYS[:1])
