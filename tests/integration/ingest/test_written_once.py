"""Extracted files become the table's data files as they are, unless the table has changed meanwhile."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from pyarrow.parquet import read_metadata
from pyiceberg.types import StringType
from sources import D1, D2, DAILY, HEADER, Lake, columns, daily_files

from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.storage.prestaged import SCHEMA_KEY


def written_once(lake: Lake) -> list[bool]:
    """Of each data file, whether the extraction wrote it."""
    files = lake.catalog.load_table("bronze.daily").inspect.files()["file_path"].to_pylist()
    footers = [read_metadata(unquote(path)) for path in files]
    return [SCHEMA_KEY.encode() in (footer.metadata or {}) for footer in footers]


@pytest.fixture
def two_days(lake: Lake) -> Lake:
    for day in (D1, D2):
        lake.write_day(day, f"{day},1,a\n")
    return lake


def test_extracted_files_are_not_written_again(two_days: Lake) -> None:
    for _ in range(2):
        two_days.load(DAILY, [D1, D2])
        assert written_once(two_days) == [True, True]
    assert two_days.read("bronze.daily", "d, id, name") == [(D1, 1, "a"), (D2, 1, "a")]


def test_nor_is_a_file_with_a_column_nobody_declared(two_days: Lake) -> None:
    two_days.load(DAILY, [D1])
    two_days.write_day(D2, f"{D2},1,a,B5\n", HEADER.strip() + ",gate\n")
    two_days.load(DAILY, [D2])
    assert written_once(two_days) == [True, True]
    assert two_days.read("bronze.daily", "d, gate") == [(D1, None), (D2, "B5")]


def test_columns_that_two_files_of_a_load_bring_do_not_mix(two_days: Lake) -> None:
    two_days.write_day(D1, f"{D1},1,a,B5\n", HEADER.strip() + ",gate\n")
    two_days.write_day(D2, f"{D2},1,a,T4\n", HEADER.strip() + ",terminal\n")
    two_days.load(DAILY, [D1, D2])
    assert two_days.read("bronze.daily", "d, gate, terminal") == [(D1, "B5", None), (D2, None, "T4")]


def test_a_column_that_another_writer_adds_meanwhile_does_not_take_the_files_values(two_days: Lake) -> None:
    two_days.load(DAILY, [D1])

    def slow_files(extraction: Extraction) -> Iterator[Any]:
        yield from daily_files(extraction)
        with two_days.catalog.load_table("bronze.daily").update_schema() as update:
            update.add_column("other", StringType())

    declared = columns(d="date", id="integer", name="varchar")
    slow = BronzeSource("daily", declared, slow_files, "*.csv", partition_by="d")
    two_days.write_day(D2, f"{D2},1,a,B5\n", HEADER.strip() + ",gate\n")
    two_days.load(slow, [D2])
    assert two_days.read("bronze.daily", "d, gate, other") == [(D1, None, None), (D2, "B5", None)]
    assert sorted(written_once(two_days)) == [False, True]
