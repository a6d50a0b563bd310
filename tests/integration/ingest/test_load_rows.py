"""Loading what dlt extracts as rows or Arrow tables: values, drift, nested data, incremental state."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.exceptions import NoSuchTableError
from sources import D1, D2, D3, Lake, columns, python_source

from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.ingest.spool import Spool

GOOD = [{"id": 1, "name": "a", "amount": 1.5}, {"id": 2, "name": None, "amount": None}]


def by_day(rows: dict[Any, list[dict[str, Any]]]) -> BronzeSource:
    declared = columns(d="date", x="integer")
    return python_source(lambda extraction: rows[extraction.partition], declared, partition_by="d")


@pytest.mark.parametrize("rows", [GOOD, [GOOD], [pa.Table.from_pylist(GOOD)]], ids=["rows", "lists", "arrow"])
def test_rows_and_arrow_tables_are_loaded(lake: Lake, rows: list[Any]) -> None:
    report = lake.load(python_source(rows))

    assert report.extracted == {None: 2}
    assert lake.read("bronze.t") == [(1, "a", 1.5, "python:t"), (2, None, None, "python:t")]
    assert lake.columns("bronze.t") == ["id", "name", "amount", "_load_id", "_source_file", "_loaded_at"]


@pytest.mark.parametrize("rows", [[{"id": 1}], [pa.table({"id": [1]})]], ids=["rows", "arrow"])
def test_a_declared_column_exists_even_if_nothing_ever_fills_it(lake: Lake, rows: list[Any]) -> None:
    lake.load(python_source(rows))

    assert lake.read("bronze.t", "id, name, amount") == [(1, None, None)]


def test_a_column_the_source_adds_is_added(lake: Lake) -> None:
    source = python_source(lambda _: [{"id": 1}], write_disposition="append")
    lake.load(source)
    lake.load(
        python_source([{"id": 2, "name": None, "amount": None, "extra": "x"}], write_disposition="append")
    )

    assert lake.read("bronze.t", "id, extra") == [(1, None), (2, "x")]


def test_a_declared_name_that_dlt_would_rename_keeps_its_values(lake: Lake) -> None:
    lake.load(python_source([{"depTime": 545}], columns(depTime="integer")))

    assert lake.read("bronze.t", '"depTime"') == [(545,)]
    assert "dep_time" not in lake.columns("bronze.t")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param([{"id": 1}, {"id": "n/a"}], "row 2, column id: 'n/a' is no integer", id="text"),
        pytest.param([{"id": 1.5}], "column id: '1.5' is no whole number", id="fraction"),
        pytest.param([{"id": 5_000_000_000}], "'5000000000' is too large for integer", id="too large"),
        pytest.param(
            [pa.table({"id": ["n/a"]})], "row 1, column id: 'n/a' is no integer", id="text in Arrow"
        ),
        pytest.param([pa.table({"id": [1.5]})], "column id: '1.5' is no whole number", id="Arrow"),
        pytest.param([{"id": 1, "kids": [{"x": 1}]}], "brings nested data in kids", id="nested"),
    ],
)
def test_a_bad_load_changes_nothing_and_does_not_poison_the_next(
    lake: Lake, bad: list[Any], message: str
) -> None:
    lake.load(python_source(GOOD))
    before = lake.read("bronze.t")
    with pytest.raises((LoadError, SourceError), match=message) as refused:
        lake.load(python_source(bad))

    assert "LINE" not in str(refused.value)
    assert lake.read("bronze.t") == before
    assert lake.working_folders() == []
    lake.load(python_source(GOOD))
    assert lake.read("bronze.t") == before
    assert lake.columns("bronze.t") == ["id", "name", "amount", "_load_id", "_source_file", "_loaded_at"]


def test_nested_data_in_a_declared_json_column_is_kept(lake: Lake) -> None:
    lake.load(python_source([{"id": 1, "kids": [{"x": 1}]}], columns(id="integer", kids="json")))

    assert lake.read("bronze.t", "id, kids ->> '$[0].x'") == [(1, "1")]


def test_a_bad_day_of_rows_is_named_and_the_others_are_loaded(lake: Lake) -> None:
    rows = {D1: [{"d": D1, "x": 1}], D2: [{"d": D2, "x": "n/a"}], D3: [{"d": D3, "x": 3}]}
    report = lake.load(by_day(rows), [D1, D2, D3])

    assert list(report.failures) == [D2]
    assert "row 1, column x: 'n/a' is no integer" in report.failures[D2]
    assert lake.read("bronze.t", "d, x") == [(D1, 1), (D3, 3)]


def test_a_source_that_breaks_in_one_day_is_named_and_the_others_are_loaded(lake: Lake) -> None:
    def extract(extraction: Extraction) -> Iterable[Any]:
        yield {"d": extraction.partition, "x": 1}
        if extraction.partition == D2:
            raise KeyError("the answer has no field `rows`")

    report = lake.load(python_source(extract, columns(d="date", x="integer"), partition_by="d"), [D1, D2, D3])

    assert list(report.failures) == [D2]
    assert "KeyError: 'the answer has no field `rows`'" in report.failures[D2]
    assert lake.read("bronze.t", "d, x") == [(D1, 1), (D3, 1)]


def test_a_row_of_another_day_is_neither_lost_nor_counted_there(lake: Lake) -> None:
    rows = {D1: [{"d": D1, "x": 1}], D2: [{"d": D2, "x": 2}, {"d": D3, "x": 99}], D3: [{"d": D3, "x": 3}]}
    report = lake.load(by_day(rows), [D1, D2, D3])

    assert report.failures == {
        D2: "2 rows came from the source, but 1 were staged",
        D3: "1 rows came from the source, but 2 were staged",
    }
    assert lake.read("bronze.t", "d, x") == [(D1, 1)]


def test_a_day_without_rows_is_emptied(lake: Lake) -> None:
    rows: dict[Any, list[dict[str, Any]]] = {D1: [{"d": D1, "x": 1}], D2: [{"d": D2, "x": 2}]}
    lake.load(by_day(rows), [D1, D2])
    rows[D1] = []
    report = lake.load(by_day(rows), [D1])

    assert report.result is not None
    assert report.result.partitions == {D1: 0}
    assert lake.read("bronze.t", "d, x") == [(D2, 2)]


def test_rows_that_vanish_on_the_way_are_noticed(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    take = Spool.take
    monkeypatch.setattr(Spool, "take", lambda self, item: take(self, item) + 1)
    with pytest.raises(LoadError, match=r"bronze\.t: 4 rows came from the source, but 2 were staged"):
        lake.load(python_source(GOOD))
    with pytest.raises(NoSuchTableError):
        lake.read("bronze.t")


def events(database: Path) -> BronzeSource:
    def extract(_: Extraction) -> Iterable[Any]:
        import dlt
        from dlt.sources.sql_database import sql_table

        new = dlt.sources.incremental("id")
        yield from sql_table(f"sqlite:///{database}", table="events", incremental=new, backend="pyarrow")

    declared = columns(id="bigint", name="varchar")
    return BronzeSource("events", declared, extract, "db.events", write_disposition="append")


def insert(database: Path, *rows: tuple[int, str]) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("create table if not exists events (id integer primary key, name text)")
        connection.executemany("insert into events values (?, ?)", rows)


def test_an_incremental_source_goes_on_where_the_last_good_load_ended(lake: Lake, tmp_path: Path) -> None:
    database = tmp_path / "source.db"
    insert(database, (1, "a"), (2, "b"))
    counts = [lake.load(events(database)).extracted]
    insert(database, (3, "c"))
    counts += [lake.load(events(database)).extracted, lake.load(events(database)).extracted]

    assert counts == [{None: 2}, {None: 1}, {None: 0}]
    assert lake.read("bronze.events", "id, name") == [(1, "a"), (2, "b"), (3, "c")]


def test_rows_of_a_failed_incremental_load_come_with_the_next(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "source.db"
    insert(database, (1, "a"))
    lake.load(events(database))
    insert(database, (2, "b"))
    take = Spool.take
    monkeypatch.setattr(Spool, "take", lambda self, item: take(self, item) + 1)
    with pytest.raises(LoadError):
        lake.load(events(database))
    monkeypatch.undo()
    lake.load(events(database))

    assert lake.read("bronze.events", "id, name") == [(1, "a"), (2, "b")]


def test_loading_calls_nobody(lake: Lake) -> None:
    """No telemetry: neither at import nor in a run does Python look up or connect to anything."""
    code = """
import sys
calls = []
sys.addaudithook(lambda event, args: calls.append(event) if event in WATCHED else None)
from pathlib import Path
from sources import GOOD_SOURCE
from lakehouse.ingest.load import load
from lakehouse.settings import Settings
load(GOOD_SOURCE, Settings(data_dir=Path(sys.argv[1])))
print("calls:", calls)
""".replace("WATCHED", "('socket.connect', 'socket.getaddrinfo', 'socket.sendto')")
    run = subprocess.run(
        [sys.executable, "-c", code, str(lake.settings.data_dir)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
        env={"HOME": str(lake.settings.data_dir / "home"), "PYTHONPATH": ":".join(sys.path)},
    )

    assert "calls: []" in run.stdout
    assert not (lake.settings.data_dir / "home").exists()
    assert lake.read("bronze.t", "id") == [(1,)]


def test_an_empty_extract_does_not_empty_a_table(lake: Lake) -> None:
    lake.load(python_source([{"id": 1}]))
    with pytest.raises(LoadError, match="gave no rows, which would empty the table"):
        lake.load(python_source([]))
    assert lake.read("bronze.t", "id") == [(1,)]


def test_unless_that_is_declared(lake: Lake) -> None:
    lake.load(python_source([{"id": 1}]))
    lake.load(python_source([], may_be_empty=True))
    assert lake.read("bronze.t", "id") == []
