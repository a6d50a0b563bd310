"""Reading newline-delimited JSON strictly: what is refused is named by file, line, column and value."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from extractions import DAY, make_extraction
from extractions import SOURCE as CSV_SOURCE

from lakehouse.catalog import open_catalog
from lakehouse.ingest.columns import Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.json_reading import JsonReading
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.quarantine import Quarantined
from lakehouse.settings import Settings

SOURCE = replace(CSV_SOURCE, origin="t/*.ndjson")
GOOD = {"d": "2013-01-01", "id": 1, "name": "a", "amount": 1.5}
Read = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def reader(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Callable[..., Read]:
    """Make a function that writes a file, reads it, and returns the rows dlt would import."""
    folder = settings.data_dir / "it's work"
    folder.mkdir(parents=True)
    settings.source_dir.mkdir()

    def of(source: BronzeSource, day: date | None) -> Read:
        extraction = make_extraction(settings, connection, folder, source, day)

        def read(content: str | bytes, selected: str = "d, id, name, amount", **options: Any) -> list[Any]:
            file = settings.source_dir / "day.ndjson"
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            items = list(read_ndjson(extraction, file, **options))
            paths = ", ".join("'" + str(path).replace("'", "''") + "'" for path in _files(items))
            return connection.execute(f"select {selected} from read_parquet([{paths}])").fetchall()

        return read

    return of


@pytest.fixture
def read(reader: Callable[..., Read]) -> Read:
    return reader(SOURCE, DAY)


def _files(items: list[Any]) -> list[Path]:
    assert items, "no file was handed over"
    return [Path(item.meta.file_path) for item in items]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(GOOD | row, ensure_ascii=False) + "\n" for row in rows)


VALUES = [
    pytest.param({}, (1, "a", 1.5), id="plain"),
    pytest.param({"id": None, "name": None, "amount": None}, (None, None, None), id="null"),
    pytest.param({"name": "007"}, (1, "007", 1.5), id="text keeps its zeros"),
    pytest.param({"name": ""}, (1, "", 1.5), id="empty text is not null"),
    pytest.param({"name": "null"}, (1, "null", 1.5), id="the word null is text"),
    pytest.param({"name": 'a\nb "c" größe'}, (1, 'a\nb "c" größe', 1.5), id="escapes"),
    pytest.param({"id": 2.0, "amount": 3}, (2, "a", 3.0), id="2.0 is a whole number"),
    pytest.param({"amount": 10.357019999999999}, (1, "a", 10.357019999999999), id="all digits"),
]


@pytest.mark.parametrize(("row", "values"), VALUES)
def test_values_stay_the_sources(read: Read, row: dict[str, Any], values: tuple[Any, ...]) -> None:
    assert read(lines(row)) == [(DAY, *values)]


def test_blank_lines_windows_line_ends_and_a_missing_last_one(read: Read) -> None:
    text = lines({"id": 1}) + "\n" + lines({"id": 2})
    assert sorted(read(text.replace("\n", "\r\n").rstrip())) == [(DAY, 1, "a", 1.5), (DAY, 2, "a", 1.5)]


def test_columns_are_read_by_name_whatever_their_order(read: Read) -> None:
    assert read('{"amount": 2.5, "name": "z", "id": 9, "d": "2013-01-01"}') == [(DAY, 9, "z", 2.5)]


def test_a_declared_columns_name_may_be_written_otherwise(read: Read) -> None:
    assert read('{"Amount": 2.5, "Name": "z", "ID": 9, "d": "2013-01-01"}') == [(DAY, 9, "z", 2.5)]
    with pytest.raises(SourceError, match=r"line 1, column id: .*text"):
        read('{"Amount": 2.5, "Name": "z", "ID": "9", "d": "2013-01-01"}')


def test_columns_nobody_declared_are_kept_as_text_also_where_only_some_lines_have_them(read: Read) -> None:
    text = lines({}, {"gate": "007", "n": 5}, {"gate": {"x": [1]}})
    assert set(read(text, "gate, n")) == {(None, None), ("007", "5"), ('{"x":[1]}', None)}


def test_each_row_says_its_file(read: Read) -> None:
    assert read(lines({}), "_source_file") == [("day.ndjson",)]


def test_a_computed_column_is_in_the_file(read: Read) -> None:
    text = '{"id": 1, "name": "a", "amount": 1}\n'
    assert read(text, computed={"d": "make_date(2013, 1, id)"}) == [(DAY, 1, "a", 1.0)]


def test_a_good_file_is_not_sorted_line_by_line(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(JsonReading, "land_lines")
    text = '{"id": 1, "name": "a", "amount": 1}\n'
    assert read(text, computed={"d": "make_date(2013, 1, id)"}) == [(DAY, 1, "a", 1.0)]


def test_an_optional_column_may_be_left_out(reader: Callable[..., Read]) -> None:
    text = '{"d": "2013-01-01", "id": 1, "name": "a"}\n' + lines({})
    declared = (*SOURCE.columns[:3], Column("amount", "double", optional=True))
    read = reader(replace(SOURCE, columns=declared), DAY)
    assert set(read(text, "amount")) == {(None,), (1.5,)}


ROW = json.dumps(GOOD) + "\n"
BAD = [
    pytest.param(lines({}, {"id": "1"}), 'line 2, column id: "1" is text, but .* integer', id="text number"),
    pytest.param(lines({}, {"id": 1.5}), "line 2, column id: 1.5 is no whole", id="fraction"),
    pytest.param(lines({"id": 99999999999}), "column id: 99999999999 is too large", id="too large"),
    pytest.param(lines({"id": True}), "column id: true is a boolean, but", id="boolean"),
    pytest.param(lines({"amount": "n/a"}), 'column amount: "n/a" is text, but .* double', id="n/a"),
    pytest.param(lines({"amount": float("nan")}), "is not JSON|NaN is no number of JSON", id="NaN"),
    pytest.param(lines({"name": 7}), "column name: 7 is a number, but .* varchar", id="number for text"),
    pytest.param(lines({"name": {"a": 1}}), 'column name: {"a":1} is an object, but', id="nested"),
    pytest.param(lines({"d": "01/02/2013"}), 'column d: "01/02/2013" is no date', id="date format"),
    pytest.param(lines({"d": "2013-01-01T10:00:00"}), "is more than a date", id="time for a date"),
    pytest.param(ROW + "\n\n" + lines({"id": "x"}), 'line 4, column id: "x"', id="blank lines are counted"),
    pytest.param("", "holds no rows.*may_be_empty", id="empty"),
    pytest.param("\n\n", "holds no rows", id="blank"),
    pytest.param(ROW + "[1]\n", "line 2 is a list, not an object", id="list"),
    pytest.param(ROW + "5\n", "line 2 is a number, not an object", id="number"),
    pytest.param(ROW + "null\n", "line 2 is null, not an object", id="null line"),
    pytest.param(
        ROW + '{"d": "2013-01-01", "id": 1, "name": "a"}\n', "line 2 lacks the column amount", id="lacks"
    ),
    pytest.param(
        ROW.replace("name", "full_name"), "lacks the column name. It has instead: full_name", id="renamed"
    ),
    pytest.param(
        ROW.replace('"amount"', '"id": 2, "amount"'), "line 1 has the column 'id' twice", id="twice"
    ),
    pytest.param(ROW.replace('"amount"', '"ID": 2, "amount"'), "has the column 'id' twice", id="case twins"),
    pytest.param(
        lines({"g": 1}, {"G": 2}), "has the columns 'g' and 'G', which would be", id="case twins in two lines"
    ),
    pytest.param(lines({"": 1}), "has a column without a name", id="no name"),
    pytest.param(lines({"_load_id": 1}), "has the column _load_id, which is added", id="reserved"),
    pytest.param(ROW + ROW[:30], "line 2 is not JSON.*The file ends there: is it cut off", id="cut off"),
    pytest.param(ROW + "{'id': 1}\n" + ROW, "line 2 is not JSON: .*property name", id="single quotes"),
    pytest.param(ROW.strip() + " " + ROW, "line 1 is not JSON: Extra data", id="two on a line"),
    pytest.param('[\n{"id": 1}\n]\n', "line 1 is not JSON", id="an array of objects"),
    pytest.param(
        b"\xef\xbb\xbf" + ROW.encode(), "line 1 begins with a byte order mark", id="byte order mark"
    ),
    pytest.param(
        ROW.encode() + lines({"name": "café"}).encode("latin-1"), "line 2 is not UTF-8", id="latin-1"
    ),
    pytest.param(ROW.encode("utf-16"), "is UTF-16, not UTF-8.*iconv", id="UTF-16"),
    pytest.param(ROW.encode("utf-16-le"), "is UTF-16, not UTF-8", id="UTF-16 without a mark"),
    pytest.param(
        lines({}, {"d": "2013-01-02"}),
        "holds rows that are not of 2013-01-01: 1, the first at line 2, column d: 2013-01-02",
        id="another day",
    ),
    pytest.param(lines({"d": None}), "1 rows have no d, the column that says", id="no day"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_what_was_not_declared_is_refused_and_not_blamed_on_the_next(
    read: Read, content: str | bytes, message: str
) -> None:
    with pytest.raises(SourceError, match=f"(?s)day.ndjson.*{message}") as refused:
        read(content)
    assert "misfit" not in str(refused.value)
    assert read(lines({})) == [(DAY, 1, "a", 1.5)]


def test_a_missing_file_is_named(reader: Callable[..., Read], settings: Settings) -> None:
    with pytest.raises(SourceError, match=r"9\.ndjson does not exist"):
        list(read_ndjson(_extraction(settings), settings.source_dir / "9.ndjson"))


def _extraction(settings: Settings) -> Extraction:
    prestager = SOURCE.prestager(open_catalog(settings), keep_snapshots=1)
    connection = duckdb.connect()
    aside, now = Quarantined(connection), datetime.now(UTC)
    return Extraction(DAY, SOURCE, settings, connection, settings.data_dir, prestager, "1", now, set(), aside)


def test_a_file_without_rows_of_a_source_that_may_have_none(settings: Settings) -> None:
    settings.source_dir.mkdir(parents=True)
    (settings.source_dir / "day.ndjson").touch()
    extraction = replace(_extraction(settings), source=replace(SOURCE, may_be_empty=True))
    assert list(read_ndjson(extraction, settings.source_dir / "day.ndjson")) == []


def test_a_long_value_does_not_fill_the_message(read: Read) -> None:
    with pytest.raises(SourceError, match="line 1") as refused:
        read(lines({"id": "x" * 100_000}))
    assert len(str(refused.value)) < 1000


TYPED = BronzeSource(
    table="typed",
    columns=(
        Column("amount", "decimal(12, 2)"),
        Column("large", "bigint"),
        Column("yes", "boolean"),
        Column("zoned", "timestamptz"),
        Column("local", "timestamptz", zone="America/New_York"),
        Column("naive", "timestamp"),
        Column("clock", "time"),
        Column("nested", "json"),
    ),
    extract=lambda _: iter(()),
    origin="typed/*.ndjson",
)
GOOD_TYPED = {
    "amount": "1.50",
    "large": "9223372036854775807",
    "yes": "true",
    "zoned": '"2013-07-01T10:00:00Z"',
    "local": '"2013-07-01 23:30"',
    "naive": '"2013-07-01 10:00"',
    "clock": '"10:30"',
    "nested": '{"a": [1, null]}',
}


@pytest.fixture
def read_typed(reader: Callable[..., Read]) -> Callable[..., tuple[Any, ...]]:
    """Write one line with these values, as JSON, beside good ones, and read it."""

    def read(**values: str) -> tuple[Any, ...]:
        pairs = ", ".join(f'"{name}": {value}' for name, value in (GOOD_TYPED | values).items())
        selected = ", ".join(f"{name}::varchar" for name in GOOD_TYPED)
        [row] = reader(TYPED, None)(f"{{{pairs}}}\n", selected)
        return row

    return read


def test_every_type_keeps_its_value(read_typed: Callable[..., tuple[Any, ...]]) -> None:
    assert read_typed() == (
        "1.50",
        "9223372036854775807",
        "true",
        "2013-07-01 10:00:00+00",
        "2013-07-02 03:30:00+00",
        "2013-07-01 10:00:00",
        "10:30:00",
        '{"a":[1,null]}',
    )
    assert read_typed(**dict.fromkeys(GOOD_TYPED, "null")) == (None,) * len(GOOD_TYPED)
    assert read_typed(amount='"9999999999.99"')[0] == "9999999999.99"
    assert read_typed(large="1e3")[1] == "1000"


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("amount", "12.345", r"12\.345 has more digits than decimal\(12, 2\)"),
        ("amount", '"n/a"', r'"n/a" is no decimal'),
        ("amount", "true", "true is a boolean"),
        ("amount", "0.30000000000000004", "has more than the 15 digits a JSON number keeps"),
        ("large", "9007199254740993.0", "has more than the 15 digits"),
        ("large", "9223372036854775808", "is too large for bigint"),
        ("large", "123456789012345678901234567890", "is too large for bigint"),
        ("yes", "1", "1 is a number, but the column is declared boolean"),
        ("yes", '"true"', '"true" is text'),
        ("zoned", '"garbage"', '"garbage" is no timestamptz'),
        ("zoned", "1717236000", "1717236000 is a number, but the column is declared timestamptz"),
        ("zoned", '"2013-07-01 23:30"', "names no time zone. Give the column's zone in the contract"),
        ("naive", '"2013-07-01T10:00:00+02:00"', "names a time zone. Declare the column as timestamptz"),
        ("clock", '"25:00"', '"25:00" is no time'),
    ],
)
def test_a_value_that_would_be_rounded_cut_or_lost_is_refused(
    read_typed: Callable[..., tuple[Any, ...]], column: str, value: str, message: str
) -> None:
    with pytest.raises(SourceError, match=f"not what was declared: line 1, column {column}: .*{message}"):
        read_typed(**{column: value})
