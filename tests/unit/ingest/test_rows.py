"""Rows and Arrow tables: each value becomes one of its column's type exactly, or is refused by name."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from extractions import make_extraction

from lakehouse.ingest.columns import Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.intake import Intake
from lakehouse.ingest.source import BronzeSource
from lakehouse.ingest.spool import Spool
from lakehouse.settings import Settings

EASTERN = timezone(timedelta(hours=-5))
NEW_YORK = "America/New_York"
LATE = datetime(2013, 1, 1, 23, 30)
Take = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def take(settings: Settings, connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> Take:
    """Take rows or a table in; returns the type and text of `x` in each row that would be loaded."""

    def take(items: list[Any], *declared: Column, **held: Any) -> list[tuple[str, str]]:
        source = BronzeSource("t", declared, lambda _: iter(()), "api")
        extraction = make_extraction(settings, connection, tmp_path, source, None)
        extraction.held.update(held)
        spool = Spool("api", tmp_path / "taken")
        for item in items:
            spool.take(item)
        files = [item.meta.file_path for item in Intake(extraction, spool).finish()]
        return connection.execute(
            f"select lower(typeof(x)), x::varchar from read_parquet({files}, union_by_name = true)"
        ).fetchall()

    return take


def rows(*values: Any) -> list[dict[str, Any]]:
    return [{"x": value, "id": number} for number, value in enumerate(values)]


def table(kind: pa.DataType, *values: Any) -> list[pa.Table]:
    return [pa.table({"x": pa.array(values, kind)})]


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        ("decimal(12, 2)", rows(Decimal("1.50"), 1.25, "1e2", 7), ["1.50", "1.25", "100.00", "7.00"]),
        ("decimal(38, 10)", rows(Decimal("1234567890123456789012345678.0000000001")), None),
        ("date", rows(date(2013, 1, 1), datetime(2013, 1, 1), "2013-01-01"), ["2013-01-01"] * 3),
        ("boolean", rows(1, 0, True, "false"), ["true", "false", "true", "false"]),
        ("timestamp", rows(LATE), ["2013-01-01 23:30:00"]),
        ("timestamptz", rows(LATE.replace(tzinfo=EASTERN)), ["2013-01-02 04:30:00+00"]),
        ("integer", rows("12", 1.0, Decimal(2), None), ["12", "1", "2", None]),
        ("bigint", rows(2**63 - 1, -(2**63)), ["9223372036854775807", "-9223372036854775808"]),
        (
            "double",
            rows(2**60, "1e300", float("inf"), 0.1),
            ["1.152921504606847e+18", "1e+300", "inf", "0.1"],
        ),
        ("varchar", rows(1, True, Decimal("1.50"), {"a": [1]}), ["1", "true", "1.50", '{"a": [1]}']),
        ("json", rows([1, {"a": date(2013, 1, 1)}], "[2]"), ['[1, {"a": "2013-01-01"}]', "[2]"]),
        ("blob", rows(b"\xff\x00a"), [r"\xFF\x00a"]),
        ("time", rows(time(10, 30)), ["10:30:00"]),
        ("bigint", table(pa.uint64(), 2**63 - 1), ["9223372036854775807"]),
        ("decimal(12, 2)", table(pa.decimal256(50, 2), Decimal("1.25")), ["1.25"]),
        ("date", table(pa.timestamp("us"), datetime(2013, 1, 1)), ["2013-01-01"]),
        ("timestamptz", table(pa.timestamp("ns", NEW_YORK), 1000), ["1970-01-01 00:00:00.000001+00"]),
        ("json", table(pa.list_(pa.int64()), [1]), ["[1]"]),
        ("varchar", table(pa.float64(), 0.1), ["0.1"]),
        ("integer", table(pa.null(), None), [None]),
    ],
)
def test_a_value_becomes_one_of_its_columns_type(
    take: Take, kind: str, values: list[Any], texts: list[str] | None
) -> None:
    found = [text for _, text in take(values, Column("x", kind), Column("id", "integer"))]
    assert found == (texts or [str(values[0]["x"])])


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (
            "decimal(12, 2)",
            rows(Decimal("1.5"), Decimal("1.005")),
            "row 2, column x: '1.005' has more digits",
        ),
        ("decimal(38, 2)", rows("1.001"), "'1.001' has more digits"),
        ("decimal(5, 2)", rows(12345), "'12345' has more digits"),
        ("date", rows(datetime(2013, 1, 1, 10)), "'2013-01-01T10:00:00' is more than a date"),
        ("date", rows(LATE.replace(tzinfo=EASTERN)), "'2013-01-02T04:30:00Z' is more than a date"),
        ("date", rows("infinity"), "'infinity' is no moment that Iceberg knows"),
        ("boolean", rows(1.7), "'1.7' is no boolean"),
        ("boolean", rows(2), "'2' is no boolean"),
        ("timestamptz", rows(LATE), "'2013-01-01T23:30:00' names no time zone. Give the column's zone"),
        ("timestamptz", rows(1717236000), "'1717236000' is no timestamptz"),
        ("timestamp", rows(LATE.replace(tzinfo=UTC)), "names a time zone. Declare the column as timestamptz"),
        ("timestamp", rows("2013-01-01T00:00:00.1234567"), "is finer than a microsecond"),
        ("time", rows("10:30:00+02:00"), "names a time zone"),
        ("integer", rows(True), "'true' is no integer"),
        ("integer", rows(2**31), "'2147483648' is too large for integer"),
        ("bigint", rows(2**63), "'9223372036854775808' is too large for bigint"),
        ("double", rows(2**60 + 1), "'1152921504606846977' is too large for double"),
        ("double", rows("1e400"), "'1e400' is no double"),
        ("json", rows("x"), "'x' is no json"),
        ("varchar", rows("\ud800"), "row 1, column x: .* cannot be kept"),
        ("varchar", rows(timedelta(1)), r"column x: datetime.timedelta\(days=1\) cannot be kept"),
        ("timestamp", table(pa.timestamp("ns"), 1), "'1970-01-01 00:00:00.000000001' is finer than a micro"),
        ("time", table(pa.time64("ns"), 1), "'00:00:00.000000001' is finer than a microsecond"),
        ("bigint", table(pa.uint64(), 2**64 - 1), "'18446744073709551615' is too large for bigint"),
        (
            "varchar",
            table(pa.duration("s"), 1),
            r"column x is of type duration\[s\], which Iceberg does not have",
        ),
        ("decimal(5, 2)", table(pa.decimal128(9, 4), Decimal("1.2345")), "'1.2345' has more digits"),
        ("double", table(pa.int64(), 2**60 + 1), "is too large for double"),
        ("timestamptz", table(pa.timestamp("us"), LATE), "names no time zone"),
        ("timestamp", table(pa.timestamp("us", "UTC"), LATE), "names a time zone"),
        ("boolean", table(pa.float64(), 1.7), "'1.7' is no boolean"),
    ],
)
def test_a_value_that_would_change_is_refused(take: Take, kind: str, values: list[Any], message: str) -> None:
    with pytest.raises(SourceError, match=f"(?s)^api.*{message}"):
        take(values, Column("x", kind), Column("id", "integer"))


def test_a_local_time_is_of_the_declared_zone(take: Take) -> None:
    declared = Column("x", "timestamptz", zone=NEW_YORK), Column("id", "integer")
    assert take(rows(LATE), *declared) == [("timestamp with time zone", "2013-01-02 04:30:00+00")]
    assert take(table(pa.timestamp("us"), LATE), *declared)[0][1] == "2013-01-02 04:30:00+00"
    with pytest.raises(
        SourceError, match="'2013-03-10T02:30:00' is an hour that the clocks of America/New_York"
    ):
        take(rows(datetime(2013, 3, 10, 2, 30)), *declared)


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        (rows(1, 2.5), "double", "1.0"),
        (rows(2**63), "decimal(38,0)", "9223372036854775808"),
        (rows(Decimal("1.5")), "decimal(38,9)", "1.500000000"),
        (rows(LATE), "timestamp", "2013-01-01 23:30:00"),
        (rows(LATE.replace(tzinfo=EASTERN)), "timestamp with time zone", "2013-01-02 04:30:00+00"),
        (rows(b"\xff"), "blob", r"\xFF"),
        (table(pa.timestamp("ns"), 1000), "timestamp", "1970-01-01 00:00:00.000001"),
        (table(pa.uint64(), 2**64 - 1), "decimal(20,0)", "18446744073709551615"),
        (table(pa.decimal256(50, 2), Decimal("1.25")), "decimal(38,2)", "1.25"),
        ([pa.table({"x": pa.array(["a"]).dictionary_encode()})], "varchar", "a"),
        (table(pa.large_string(), "a"), "varchar", "a"),
        (table(pa.list_(pa.int64()), [1]), "bigint[]", "[1]"),
    ],
)
def test_a_column_nobody_declared_has_the_type_of_its_values(
    take: Take, values: list[Any], kind: str, text: str
) -> None:
    assert take(values, Column("id", "integer", optional=True))[0] == (kind, text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (rows(1, "n/a"), "column x holds both 1 and 'n/a'. Declare its type"),
        (rows(LATE, LATE.replace(tzinfo=UTC)), "column x holds both"),
        (rows({"a": 1}), "brings nested data in x. Give it a column of type json"),
        (rows(Decimal("1.1234567891")), "'1.1234567891' has more digits than decimal"),
        (table(pa.timestamp("ns"), 1), "is finer than a microsecond"),
        ([*table(pa.int64(), 1), *table(pa.string(), "a")], "column x comes both as long and as string"),
        (
            [*table(pa.timestamp("us"), LATE), *table(pa.timestamp("us", "UTC"), LATE)],
            "comes both as timestamp",
        ),
    ],
)
def test_what_has_no_one_type_is_refused(take: Take, values: list[Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        take(values, Column("id", "integer", optional=True))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["Dep Time", "dep_time"],
            "has the columns '(Dep Time|dep_time)' and '(Dep Time|dep_time)', which would be",
        ),
        (["ID", "id"], "has the columns 'id' and 'ID', which would be one column, id"),
    ],
)
def test_names_that_would_be_one_column_are_refused(take: Take, names: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        take([dict.fromkeys(names, 1)], Column("id", "integer"))


def test_a_renamed_column_is_named(take: Take) -> None:
    declared = Column("x", "integer"), Column("name", "varchar")
    with pytest.raises(
        SourceError, match=r"api lacks the column name and has a new one, full_name\. If it was ren"
    ):
        take([{"x": 1, "full_name": "a"}], *declared)
    assert take([{"x": 1, "full_name": "a"}], declared[0], Column("name", "varchar", optional=True))
    assert take([{"x": 1, "name": None, "full_name": "a"}], *declared)
    assert take([{"x": 1}], *declared)


def test_what_is_no_row_is_refused(take: Take) -> None:
    with pytest.raises(SourceError, match=r"api yields a int\. Yield rows"):
        take([7])
