"""Each difference between source, contract and table is told with what was done, whether it blocks or not."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from orders_lake import DAY, OrdersLake

from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.load import load
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.check_result import PASSED, WARNED, CheckResult
from lakehouse.quality.drift import NOTHING
from lakehouse.quality.gates import COLUMNS
from lakehouse.settings import Settings

D = date(2024, 3, 9)
CONTRACT = """\
dataset: lakehouse/bronze/sales
version: "1.0.0"
owner: team:x
tier: 3
schema_mode: {mode}
columns:
- {{name: day, data_type: date}}
- {{name: shop_name, data_type: varchar}}
- {{name: pieces, data_type: integer}}
- {{name: till, data_type: varchar, optional: true}}
"""
ROW = {"day": "2024-03-09", "shop_name": "Kyoto", "pieces": 3, "till": "a"}
Told = dict[str, tuple[str, str, str, str]]


def sales(
    folder: Path, extract: Callable[[Extraction], Iterator[Any]], mode: str, **options: Any
) -> BronzeSource:
    file = folder / "bronze" / "sales.yml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(CONTRACT.format(mode=mode))
    return BronzeSource("sales", read_columns(file), extract, "the shop", **options)


def as_csv(rows: list[dict[str, Any]]) -> Callable[[Extraction], Iterator[Any]]:
    def extract(extraction: Extraction) -> Iterator[Any]:
        file = extraction.folder / "sales.csv"
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        file.write_text("\n".join([*lines, ""]))
        yield from read_csv(extraction, file)

    return extract


def as_ndjson(rows: list[dict[str, Any]]) -> Callable[[Extraction], Iterator[Any]]:
    def extract(extraction: Extraction) -> Iterator[Any]:
        file = extraction.folder / "sales.ndjson"
        file.write_text(
            "".join(duckdb.execute("select to_json(?)", [row]).fetchall()[0][0] + "\n" for row in rows)
        )
        yield from read_ndjson(extraction, file)

    return extract


def as_rows(rows: list[dict[str, Any]]) -> Callable[[Extraction], Iterator[Any]]:
    return lambda _: iter(rows)


def as_arrow(rows: list[dict[str, Any]]) -> Callable[[Extraction], Iterator[Any]]:
    return lambda _: iter([pa.Table.from_pylist(rows)])


FORMS = [as_csv, as_ndjson, as_rows, as_arrow]
each_form = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def loaded(settings: Settings, tmp_path: Path) -> Callable[..., CheckResult]:
    """The check of the columns of a load of these rows."""

    def run(form: Any, *rows: dict[str, Any], mode: str = "evolve", **options: Any) -> CheckResult:
        options = {"partition_by": "day"} | options
        partitions = [D] if options["partition_by"] else None
        report = load(sales(tmp_path, form(list(rows)), mode, **options), settings, partitions)
        assert not report.failures
        [check] = [r for r in report.checks[D if partitions else None] if r.check == COLUMNS]
        return check

    return run


def told(check: CheckResult) -> Told:
    """By column what source, contract and table have, and what was done."""
    said = [tuple(difference.values()) for difference in check.differences]
    assert check.metrics["differences"] == len(said)
    return {column: (source, contract, table, done) for column, source, contract, table, done in said}


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


@pytest.mark.parametrize("form", [as_csv, as_ndjson, as_rows])
def test_nothing_is_told_of_columns_that_are_as_declared(
    loaded: Callable[..., CheckResult], form: Any
) -> None:
    row = ROW if form is not as_rows else {**ROW, "day": D}
    for _ in range(2):
        check = loaded(form, row)
        assert (check.outcome, told(check)) == (PASSED, {})


@each_form
def test_a_name_that_was_normalized(loaded: Callable[..., CheckResult], form: Any) -> None:
    check = loaded(form, {**without(ROW, "till"), "Till": "a"})

    assert check.outcome == PASSED
    assert told(check)["till"] == ("Till", "varchar", NOTHING, "is loaded as till")


@each_form
def test_an_optional_column_that_was_left_out(loaded: Callable[..., CheckResult], form: Any) -> None:
    check = loaded(form, without(ROW, "till"))

    assert check.outcome == PASSED
    assert told(check)["till"] == (NOTHING, "varchar", NOTHING, "is left out by the source, and is null")


@pytest.mark.parametrize(
    ("form", "row", "column", "source", "done"),
    [
        (as_arrow, ROW, "pieces", "pieces bigint", "bigint is read as integer"),
        (as_arrow, ROW, "day", "day varchar", "varchar is read as date"),
        (as_rows, ROW, "day", "day varchar", "varchar is read as date"),
        (as_rows, {**ROW, "day": D, "pieces": "3"}, "pieces", "pieces varchar", "varchar is read as integer"),
    ],
)
def test_a_type_that_was_cast(
    loaded: Callable[..., CheckResult], form: Any, row: dict[str, Any], column: str, source: str, done: str
) -> None:
    check = loaded(form, row)

    assert check.outcome == PASSED
    assert (told(check)[column][0], told(check)[column][3]) == (source, done)


@each_form
def test_a_column_that_the_contract_does_not_have(loaded: Callable[..., CheckResult], form: Any) -> None:
    loaded(form, ROW)
    check = loaded(form, {**ROW, "Colour No": "red"})

    assert check.outcome == WARNED
    assert check.note == "colour_no (string) is not declared, and is kept"
    source, contract, table, done = told(check)["colour_no"]
    assert (source, contract, table) == ("Colour No", NOTHING, NOTHING)
    assert done == f"{check.note}; is loaded as colour_no; is added to the table"


@each_form
def test_a_column_that_the_source_no_longer_has(loaded: Callable[..., CheckResult], form: Any) -> None:
    loaded(form, {**ROW, "colour": "red"})
    check = loaded(form, ROW)

    assert check.outcome == WARNED
    assert told(check)["colour"] == (
        NOTHING,
        NOTHING,
        "string",
        "colour is not declared and comes no more: it is null in these rows",
    )


@each_form
def test_a_column_that_a_source_that_is_replaced_no_longer_has(
    loaded: Callable[..., CheckResult], form: Any
) -> None:
    loaded(form, {**ROW, "colour": "red"}, partition_by=None)
    check = loaded(form, ROW, partition_by=None)

    assert check.outcome == WARNED
    assert "colour is not declared and comes no more: it is null in these rows" in told(check)["colour"][3]


@each_form
@pytest.mark.parametrize("mode", ["discard_value", "discard_row"])
def test_a_column_that_goes_to_quarantine(loaded: Callable[..., CheckResult], form: Any, mode: str) -> None:
    check = (
        loaded(form, *[ROW] * 99, {**ROW, "colour": "red"}, mode=mode)
        if form in (as_rows, as_ndjson)
        else None
    )
    if check is None:
        check = loaded(form, *[{**ROW, "colour": ""}] * 99, {**ROW, "colour": "red"}, mode="discard_value")

    assert check.outcome == WARNED
    assert told(check)["colour"] == (
        "colour",
        NOTHING,
        NOTHING,
        "colour is not declared: what it holds goes to quarantine",
    )


def test_a_type_that_the_table_widens(loaded: Callable[..., CheckResult]) -> None:
    loaded(as_rows, {**ROW, "weight": 1}, partition_by=None, write_disposition="append")
    row = pa.table({"day": [D], "shop_name": ["Kyoto"], "pieces": [3], "weight": pa.array([1], pa.int32())})
    check = loaded(lambda _: lambda _: iter([row]), partition_by=None, write_disposition="append")

    assert told(check)["till"][3] == "is left out by the source, and is null"
    assert told(check)["weight"][2] == "long"


def test_a_model_with_a_narrower_type(orders: OrdersLake) -> None:
    _, results = orders.write("select * replace (n::integer as n) from good", [DAY])

    assert results[COLUMNS].outcome == PASSED
    assert told(results[COLUMNS])["n"] == (NOTHING, "bigint", "long", "comes as int, and is cast to long")


def test_a_column_that_a_model_no_longer_has(orders: OrdersLake) -> None:
    orders.write("select *, n as rank from good", [DAY])
    _, results = orders.write("select * from good", [DAY])

    assert results[COLUMNS].outcome == WARNED
    assert told(results[COLUMNS])["rank"] == (
        NOTHING,
        NOTHING,
        "long",
        "rank (long) is in the table alone, and is null in these rows",
    )


def test_a_refused_column_says_so_and_nothing_of_the_table(orders: OrdersLake) -> None:
    _, results = orders.write("select * exclude (channel), n as other from good", [DAY])

    assert told(results[COLUMNS])["channel"][3] == "refused: channel is missing"
    assert "added" not in told(results[COLUMNS])["other"][3]
