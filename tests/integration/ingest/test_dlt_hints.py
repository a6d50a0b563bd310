"""dlt's own hints, time windows and first sightings: followed, or refused with what to declare."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import dlt
import pytest
from sources import Lake, columns, python_source

from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.source import BronzeSource
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.time_window import TimeWindow

DECLARED = columns(id="integer", version="integer", gone="boolean")
KEY = MergeKey(("id",), cursor="version", deleted="gone")
ROWS = [{"id": 1, "version": 1, "gone": False}, {"id": 2, "version": 1, "gone": False}]
GONE = [{"id": 1, "version": 2, "gone": True}]


def hinted(rows: list[Any], source: dict[str, Any], **hints: Any) -> BronzeSource:
    """A source that yields a dlt resource with these hints."""
    return python_source(lambda _: [dlt.resource(rows, name="things", **hints)], DECLARED, **source)


MERGE = {"write_disposition": "merge", "key": KEY}


def test_a_deletion_that_dlt_is_told_of_reaches_the_table(lake: Lake) -> None:
    hints: dict[str, Any] = {"primary_key": "id", "columns": {"gone": {"hard_delete": True}}}
    lake.load(hinted(ROWS, MERGE, **hints))
    lake.load(hinted(GONE, MERGE, **hints))

    assert lake.read("bronze.t", "id, version") == [(2, 1)]


@pytest.mark.parametrize(
    ("source", "hints", "message"),
    [
        (
            {},
            {"columns": {"gone": {"hard_delete": True}}},
            r"marks deletions in gone .* key=MergeKey\(\(…,\), del",
        ),
        (MERGE, {"columns": {"flag": {"hard_delete": True}}}, "marks deletions in flag"),
        (MERGE, {"columns": {"version": {"dedup_sort": "asc"}}}, "sorts rows of one key by version"),
        (MERGE, {"primary_key": "version"}, "has the primary_key version, but its source merges by id"),
        (
            {},
            {"write_disposition": "merge"},
            "is to merge, but its source is declared with write_disposition='rep",
        ),
    ],
)
def test_a_hint_that_says_something_else_is_refused(
    lake: Lake, source: dict[str, Any], hints: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceError, match=rf"bronze\.t: the dlt resource things {message}"):
        lake.load(hinted(ROWS, source, **hints))


def test_rows_of_another_table_are_refused(lake: Lake) -> None:
    with pytest.raises(SourceError, match="brought rows of a second table, others"):
        lake.load(python_source([dlt.mark.with_table_name({"id": 1}, "others")]))


def test_a_first_sighting_stays(lake: Lake) -> None:
    for version in (1, 2):
        rows = [
            {"id": 1, "version": version, "gone": False},
            {"id": version + 5, "version": 1, "gone": False},
        ]
        key = MergeKey(("id",))
        lake.load(python_source(rows, DECLARED, write_disposition="merge", key=key, strategy="insert_only"))

    assert lake.read("bronze.t", "id, version") == [(1, 1), (6, 1), (7, 1)]


def windowed(rows: list[Any], start: Any, end: Any, **options: Any) -> BronzeSource:
    declared = columns(at="timestamp", x="integer")
    return python_source(rows, declared, window=lambda: TimeWindow("at", start, end), **options)


def test_a_load_replaces_its_window_of_time(lake: Lake) -> None:
    hours = [datetime(2013, 1, 1, hour) for hour in range(4)]
    lake.load(windowed([{"at": at, "x": 1} for at in hours[:3]], hours[0], hours[3]))
    for _ in range(2):
        lake.load(windowed([{"at": at, "x": 2} for at in hours[1:]], hours[1], datetime(2013, 1, 2)))

    assert lake.read("bronze.t", 'hour("at"), x') == [(0, 1), (1, 2), (2, 2), (3, 2)]
    with pytest.raises(LoadError, match="1 rows are not of the window being written"):
        lake.load(windowed([{"at": hours[0], "x": 3}], hours[1], hours[2]))
    with pytest.raises(
        LoadError, match=r"the window of at is of date \(2013-01-01\), but the column is timestamp"
    ):
        lake.load(windowed([{"at": hours[0], "x": 3}], date(2013, 1, 1), date(2013, 1, 2)))


def test_a_window_is_no_merge(lake: Lake) -> None:
    def nothing(_: Any) -> Iterator[Any]:
        yield from ()

    with pytest.raises(ValueError, match="a window is for a table without partitions, and not for `merge`"):
        BronzeSource("t", DECLARED, nothing, "o", write_disposition="append", window=lambda: None)  # type: ignore[arg-type,return-value]
