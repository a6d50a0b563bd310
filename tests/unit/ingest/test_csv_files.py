"""Reading CSV strictly: what is refused is refused with its file, line, column and value."""

import gzip
from collections.abc import Callable
from dataclasses import replace

import duckdb
import pytest
from extractions import DAY, SOURCE, make_extraction

from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import BronzeSource
from lakehouse.settings import Settings

HEADER = "d,id,name,amount\n"
Read = Callable[..., list[tuple[object, ...]]]


@pytest.fixture
def read(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Read:
    """Write a file, read it, and return the rows of the Parquet file that dlt would import."""
    folder = settings.data_dir / "it's work"
    folder.mkdir(parents=True)
    settings.source_dir.mkdir()
    extraction = make_extraction(settings, connection, folder)

    def read(content: str | bytes, columns: str = "d, id, name, amount", **options: object) -> list[object]:
        file = settings.source_dir / "day.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        list(read_csv(extraction, file, **{"null_value": "NA"} | options))
        parquet = str(max(folder.rglob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)).replace(
            "'", "''"
        )
        return connection.execute(f"select {columns} from read_parquet('{parquet}')").fetchall()

    return read


GOOD = [
    pytest.param("2013-01-01,1,a,1.5\n", (1, "a", 1.5), id="plain"),
    pytest.param("2013-01-01,NA,NA,NA\n", (None, None, None), id="NA is null"),
    pytest.param("2013-01-01,0545,007,2400\n", (545, "007", 2400.0), id="text keeps its zeros"),
    pytest.param('2013-01-01,1,"a\nb",1\n', (1, "a\nb", 1.0), id="newline in a value"),
    pytest.param('2013-01-01,1,"say ""hi"", ok",1\n', (1, 'say "hi", ok', 1.0), id="quotes and a comma"),
    pytest.param("2013-01-01,1,,1\n", (1, "", 1.0), id="empty text is not null where NA is"),
    pytest.param("2013-01-01,2.0,a,1\n", (2, "a", 1.0), id="2.0 is a whole number"),
    pytest.param("2013-01-01,1,größe,1", (1, "größe", 1.0), id="no newline at the end"),
]


@pytest.mark.parametrize(("line", "row"), GOOD)
def test_values_stay_the_sources(read: Read, line: str, row: tuple[object, ...]) -> None:
    assert read(HEADER + line) == [(DAY, *row)]


def test_a_byte_order_mark_and_windows_line_ends(read: Read) -> None:
    content = b"\xef\xbb\xbf" + (HEADER + "2013-01-01,5,a,1.5\n").replace("\n", "\r\n").encode()
    assert read(content) == [(DAY, 5, "a", 1.5)]


def test_columns_are_read_by_name_whatever_their_order(read: Read) -> None:
    assert read("amount,name,id,d\n2.5,z,9,2013-01-01\n") == [(DAY, 9, "z", 2.5)]


def test_a_column_nobody_declared_is_kept_as_text(read: Read) -> None:
    assert read("d,id,name,amount,gate\n2013-01-01,1,a,1,007\n", "id, gate") == [(1, "007")]


def test_each_row_says_its_file(read: Read) -> None:
    assert read(HEADER + "2013-01-01,1,a,1\n", "_source_file") == [("day.csv",)]


BAD = [
    pytest.param(HEADER + "2013-01-01,1,a,1\n2013-01-01,n/a,a,1\n", "line 3, column id: .*n/a", id="n/a"),
    pytest.param(HEADER + "2013-01-01,,a,1\n", 'line 2, column id: .*""', id="empty number"),
    pytest.param(HEADER + "2013-01-01,99999999999,a,1\n", "line 2, column id: .*99999999999", id="too large"),
    pytest.param(
        HEADER + "2013-01-01,1,a,1\n2013-01-01,1.5,a,1\n",
        "line 3, column id: '1.5' is no whole",
        id="fraction",
    ),
    pytest.param(HEADER + "2013-01-01,15e-1,a,1\n", "line 2, column id: '15e-1' is no whole", id="exponent"),
    pytest.param(HEADER + "01/02/2013,1,a,1\n", "line 2, column d: .*01/02/2013", id="another date format"),
    pytest.param("", "day.csv is empty: not even a header", id="empty"),
    pytest.param(HEADER, "has a header but no rows", id="header only"),
    pytest.param("d,id,name\n2013-01-01,1,a\n", "lacks the column amount", id="missing column"),
    pytest.param(
        "d,id,full_name,amount\n2013-01-01,1,a,1\n",
        "lacks the column name. It has instead: full_name",
        id="renamed column",
    ),
    pytest.param("d,id,name,amount,id\n2013-01-01,1,a,1,1\n", "has the column 'id' twice", id="duplicate"),
    pytest.param("d,id,name,amount,ID\n2013-01-01,1,a,1,1\n", "has the column 'id' twice", id="case twins"),
    pytest.param("d,id,name,amount,\n2013-01-01,1,a,1,\n", "a column without a name, the 5", id="no name"),
    pytest.param("d;id;name;amount\n2013-01-01;1;a;1\n", "separated by ';'.*delimiter=';'", id="semicolons"),
    pytest.param(HEADER.replace(",", "\t") + "2013-01-01\t1\ta\t1\n", r"separated by '\\t'", id="tabs"),
    pytest.param(
        "2013-01-01,1,a,1\n2013-01-01,1,b,1\n", "none of the declared.*'2013-01-01,1,", id="no header"
    ),
    pytest.param(HEADER + "2013-01-01,1,a,1\n2013-01-01,2\n", "line 3: .*Found: 2 in", id="truncated line"),
    pytest.param(HEADER + "2013-01-01,1,a,1,6\n", "line 2: .*Found: 5 in", id="too many fields"),
    pytest.param(HEADER + '2013-01-01,1,"a,1\n', "line 2: .*unterminated quote", id="open quote"),
    pytest.param(
        HEADER.encode() + b"2013-01-01,5,caf\xe9,1\n",
        r"line 2, column name: 'caf\\xe9' is not UTF-8; in latin1 it would be 'café'\..*iconv",
        id="latin-1 value",
    ),
    pytest.param(
        HEADER.encode() + b'\n\n2013-01-01,5,"caf\xe9, ""x""\ny",1\n',
        r"line 4, column name: 'caf\\xe9, \"x\"\ny' is not UTF-8",
        id="latin-1 value in quotes",
    ),
    pytest.param(
        b"d,id,n\xe9,amount\n2013-01-01,5,a,1\n",
        r"not UTF-8: line 1, column 3, .*n\\xe9",
        id="latin-1 header",
    ),
    *(
        pytest.param((HEADER + "2013-01-01,5,a,1\n").encode(codec), f"is {name}, not UTF-8.*iconv", id=codec)
        for codec, name in [
            ("utf-16", "UTF-16"),
            ("utf-16-le", "UTF-16"),
            ("utf-16-be", "UTF-16"),
            ("utf-32", "UTF-32"),
        ]
    ),
    pytest.param(gzip.compress(HEADER.encode()), "no text but packed", id="gzip"),
    pytest.param(
        HEADER.replace("\n", "\r\n") + "2013-01-01,6,a,1\r\n2013-01-01,7,b,1\n",
        "line 3 ends",
        id="mixed ends",
    ),
    pytest.param(
        HEADER + "2013-01-01,1,a,1\n2013-01-02,1,a,1\n",
        "holds rows that are not of 2013-01-01: 1, the first at line 3, column d: 2013-01-02",
        id="another day",
    ),
    pytest.param(
        "d,id,name,amount,_load_id\n2013-01-01,1,a,1,x\n", "_load_id, which is added", id="reserved"
    ),
    pytest.param(HEADER + "NA,1,a,1\n", "1 rows have no d, the column that says", id="no day"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_what_was_not_declared_is_refused(read: Read, content: str | bytes, message: str) -> None:
    with pytest.raises(SourceError, match=f"(?s)day.csv.*{message}" if content else message):
        read(content)


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_bad_file_is_not_blamed_on_the_next(read: Read, content: str | bytes, message: str) -> None:
    with pytest.raises(SourceError):
        read(content)
    assert read(HEADER + "2013-01-01,1,a,1\n") == [(DAY, 1, "a", 1.0)]


def test_a_missing_file_is_named(read: Read, settings: Settings) -> None:
    extraction = make_extraction(settings, duckdb.connect(), settings.data_dir)
    with pytest.raises(SourceError, match=r"2013-01-09\.csv does not exist"):
        list(read_csv(extraction, settings.source_dir / "2013-01-09.csv"))


def test_a_computed_column_that_cannot_be_computed_names_the_file(read: Read) -> None:
    with pytest.raises(SourceError, match=r"day\.csv .*: line 4, column d, which is make_date.*2013-13-1"):
        read("id,name,amount\nNA,a,1\n1,a,1\n13,a,1\n", computed={"d": "make_date(2013, id, 1)"})


def test_a_computed_column_is_in_the_file(read: Read) -> None:
    assert read("id,name,amount\n1,a,1\n", computed={"d": "make_date(2013, id, 1)"}) == [(DAY, 1, "a", 1.0)]


def test_a_header_without_rows_of_a_source_that_may_have_none(
    settings: Settings, connection: duckdb.DuckDBPyConnection
) -> None:
    settings.source_dir.mkdir(parents=True)
    file = settings.source_dir / "day.csv"
    file.write_text(HEADER, encoding="utf-8")
    source = replace(SOURCE, may_be_empty=True)
    extraction = make_extraction(settings, connection, settings.data_dir / "work", source)
    assert list(read_csv(extraction, file)) == []


BEFORE = [
    pytest.param('2013-01-01,1,"a\nb",1\n', 4, id="a quoted newline"),
    pytest.param('2013-01-01,1,"a\n""b"",\n",1\n', 5, id="quotes and a comma in it"),
    pytest.param("\n\n2013-01-01,1,a,1\n", 5, id="blank lines"),
    pytest.param('2013-01-01,1,5" pipe,1\n', 3, id="a quote that opens nothing"),
]


@pytest.mark.parametrize(("before", "line"), BEFORE)
@pytest.mark.parametrize("bad", ["2013-01-01,n/a,a,1\n", "2013-01-01,1.5,a,1\n", "2013-01-01,1\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_is_the_one_that_an_editor_shows(
    read: Read, before: str, line: int, bad: str, end: str
) -> None:
    content = (HEADER + before + bad + "2013-01-01,1,a,1\n").replace("\n", end)
    assert content.split(end)[line - 1] == bad.strip()
    with pytest.raises(SourceError, match=f"day.csv is not what was declared: line {line}[,:]"):
        read(content)


def test_a_file_that_ends_within_a_row_may_be_cut_off(read: Read) -> None:
    with pytest.raises(SourceError, match=r"line 3: .* is it cut off"):
        read(HEADER + "2013-01-01,1,a,1\n2013-01-01,1")
    with pytest.raises(SourceError, match=r"line 3: [^?]*$"):
        read(HEADER + "2013-01-01,1,a,1\n2013-01-01,1\n")


CUT = HEADER + "2013-01-01,1,a,1\n2013-01-01,2,b,12"


def test_a_last_value_that_may_be_cut_off_is_refused_where_that_is_asked(
    read: Read, settings: Settings
) -> None:
    with pytest.raises(
        SourceError, match=r"day.csv: line 3, .* no line end, and ends in '12': is it cut off"
    ):
        read(CUT, open_end="refuse")
    assert not list(settings.data_dir.rglob("*.parquet"))
    rows = [(DAY, 1, "a", 1.0), (DAY, 2, "b", 12.0)]
    for end in ("\n", "\r\n"):
        assert read((CUT + "\n").replace("\n", end), open_end="refuse") == rows
    assert read(CUT) == rows


def test_another_delimiter_that_is_declared(read: Read) -> None:
    content = 'd;id;name;amount\n2013-01-01;1;"a;\nb";1,5\n'
    with pytest.raises(SourceError, match=r"line 2, column amount: .*1,5"):
        read(content, delimiter=";")
    assert read(content.replace("1,5", "1.5"), delimiter=";") == [(DAY, 1, "a;\nb", 1.5)]


def test_many_bad_lines_are_counted_and_the_first_shown(read: Read) -> None:
    with pytest.raises(SourceError, match=r"line 2, .*line 3, .*line 4, .*\(and 2 more\)"):
        read(HEADER + "2013-01-01,x,a,1\n" * 5)
    with pytest.raises(SourceError, match=r"\(and at least 97 more\)"):
        read(HEADER + "2013-01-01,x,a,1\n" * 500)


def test_a_long_line_does_not_fill_the_message(read: Read) -> None:
    with pytest.raises(SourceError, match="line 2") as refused:
        read(HEADER + f"2013-01-01,1,{'x' * 100_000}\n")
    assert len(str(refused.value)) < 1000


TYPED = BronzeSource(
    table="typed",
    columns=(
        Column("amount", "decimal(12, 2)"),
        Column("large", "bigint"),
        Column("zoned", "timestamptz"),
        Column("local", "timestamptz", zone="America/New_York"),
        Column("naive", "timestamp"),
        Column("on_day", "date"),
    ),
    extract=lambda _: iter(()),
    origin="typed/*.csv",
)
GOOD_TYPED = {
    "amount": "1.50",
    "large": "9223372036854775807",
    "zoned": "2013-07-01T10:00:00Z",
    "local": "2013-07-01 23:30",
    "naive": "2013-07-01 10:00",
    "on_day": "2013-07-01",
}


@pytest.fixture
def read_typed(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Callable[..., list[object]]:
    """Write one line with these values beside good ones, and read it."""
    settings.source_dir.mkdir(parents=True)
    folder = settings.data_dir / "work"

    def read(**values: str) -> list[object]:
        file = settings.source_dir / "typed.csv"
        line = GOOD_TYPED | values
        file.write_text(",".join(line) + "\n" + ",".join(line.values()) + "\n", encoding="utf-8")
        extraction = make_extraction(settings, connection, folder, TYPED, None)
        list(read_csv(extraction, file))
        parquet = max(folder.rglob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
        name = str(parquet).replace("'", "''")
        listed = ", ".join(f"{column}::varchar" for column in GOOD_TYPED)
        return list(connection.execute(f"select {listed} from read_parquet('{name}')").fetchall()[0])

    return read


def test_every_type_keeps_its_value(read_typed: Callable[..., list[object]]) -> None:
    assert read_typed() == [
        "1.50",
        "9223372036854775807",
        "2013-07-01 10:00:00+00",
        "2013-07-02 03:30:00+00",
        "2013-07-01 10:00:00",
        "2013-07-01",
    ]
    assert read_typed(local="2013-07-01T23:30:00+02:00")[3] == "2013-07-01 21:30:00+00"
    assert read_typed(**dict.fromkeys(GOOD_TYPED, "")) == [None] * len(GOOD_TYPED)


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("amount", "12.345", r"'12\.345' has more digits than decimal\(12, 2\)"),
        ("amount", "1.005", "has more digits"),
        ("amount", "n/a", "column amount: .*n/a"),
        ("large", "1.5", "'1.5' is no whole number"),
        ("large", "0x10", "0x10"),
        ("zoned", "garbage", "'garbage' is no timestamptz"),
        ("zoned", "2026-06-31T10:00:00Z", "'2026-06-31T10:00:00Z' is no timestamptz"),
        ("zoned", "1717236000", "is no timestamptz"),
        ("zoned", "2013-07-01 23:30", "names no time zone. Give the column's zone in the contract"),
        ("local", "garbage", "'garbage' is no timestamptz"),
        ("naive", "2013-07-01T10:00:00+02:00", "names a time zone. Declare the column as timestamptz"),
        ("on_day", "2013-07-01T10:00:00", "is more than a date"),
    ],
)
def test_a_value_that_would_be_rounded_cut_or_lost_is_refused(
    read_typed: Callable[..., list[object]], column: str, text: str, message: str
) -> None:
    with pytest.raises(SourceError, match=f"typed.csv is not what was declared.*{message}"):
        read_typed(**{column: text})
