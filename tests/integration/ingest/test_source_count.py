"""What was read is laid beside the source's own count before it is published."""

from collections.abc import Iterator
from datetime import date

import pytest
from sources import Lake, columns, python_source

from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.source import Extraction

ROWS = [{"id": number} for number in range(3)]
DAYS = [date(2013, 1, 1), date(2013, 1, 2)]


def test_a_table_of_fewer_rows_than_the_source_counts_stays_as_it_was(lake: Lake) -> None:
    report = lake.load(python_source(ROWS, count=lambda _: 3))
    assert report.counted == {None: 3}

    with pytest.raises((SourceError, LoadError), match="2 rows were read, but python:t counts 3"):
        lake.load(python_source(ROWS[:2], count=lambda _: 3))

    assert lake.read("bronze.t", "id") == [(0,), (1,), (2,)]


def test_a_source_that_changes_meanwhile_may_give_what_it_had_or_has(lake: Lake) -> None:
    counts = iter((2, 4, 5, 5))

    lake.load(python_source(ROWS, count=lambda _: next(counts)))
    with pytest.raises((SourceError, LoadError), match="3 rows were read, but python:t counts 5"):
        lake.load(python_source(ROWS, count=lambda _: next(counts)))

    assert len(lake.read("bronze.t", "id")) == 3


def test_of_several_days_the_one_that_lacks_rows_is_not_published(lake: Lake) -> None:
    def rows(extraction: Extraction) -> Iterator[dict[str, object]]:
        yield {"d": extraction.partition, "id": 1}

    source = python_source(
        rows,
        columns(d="date", id="integer"),
        partition_by="d",
        count=lambda extraction: 1 if extraction.partition == DAYS[0] else 2,
    )
    report = lake.load(source, DAYS)

    assert set(report.failures) == {DAYS[1]}
    assert "1 rows of 2013-01-02 were read" in report.failures[DAYS[1]]
    assert lake.read("bronze.t", "d") == [(DAYS[0],)]
