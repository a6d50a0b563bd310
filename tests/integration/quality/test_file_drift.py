"""Files whose columns changed: what the declared columns cannot hold is not published, and is named."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.load import load
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.check_result import PASSED, WARNED
from lakehouse.quality.gates import COLUMNS
from lakehouse.settings import Settings

DAY = date(2024, 3, 9)
CONTRACT = """\
dataset: lakehouse/bronze/sales
version: "1.0.0"
owner: team:x
tier: 3
columns:
- {name: day, data_type: date}
- {name: shop, data_type: varchar}
- {name: pieces, data_type: integer}
- {name: price, data_type: "decimal(8, 2)"}
- {name: sold_at, data_type: timestamp}
- {name: paid, data_type: boolean}
"""
GOOD = {
    ".csv": "day,shop,pieces,price,sold_at,paid\n2024-03-09,Kyoto,3,9.50,2024-03-09 10:00:00,true\n",
    ".ndjson": '{"day": "2024-03-09", "shop": "Kyoto", "pieces": 3, "price": 9.50,'
    ' "sold_at": "2024-03-09 10:00:00", "paid": true}\n',
}
# The kind of file, what is replaced in it by what, and what the refusal names.
FAULTS = [
    pytest.param(".csv", ",paid\n", "\n", "paid", id="the last column's name is gone"),
    pytest.param(".csv", ",pieces,", ",amount,", "pieces", id="a column has a new name"),
    pytest.param(".csv", "shop,pieces", "pieces,shop", "pieces", id="two columns have each other's name"),
    pytest.param(".csv", "day,shop,pieces,price,sold_at,paid\n", "", "day", id="no header"),
    pytest.param(".csv", ",", ";", "day", id="another delimiter"),
    pytest.param(".csv", ",3,", ",3.5,", "pieces", id="a whole number has a fraction"),
    pytest.param(".csv", ",3,", ",three,", "pieces", id="a number is a word"),
    pytest.param(".csv", ",3,", ",99999999999,", "pieces", id="a number is too large for its type"),
    pytest.param(".csv", "9.50", '"9,50"', "price", id="a decimal has a comma"),
    pytest.param(".csv", "9.50", "9.505", "price", id="a decimal has more places"),
    pytest.param(".csv", "9.50", "9.50 EUR", "price", id="a number has a currency"),
    pytest.param(".csv", "09,Kyoto", "10,Kyoto", "2024-03-10", id="a row of another day"),
    pytest.param(".csv", "2024-03-09 10:00:00", "9 March, ten", "sold_at", id="a time in words"),
    pytest.param(".csv", ",true", ",perhaps", "paid", id="a truth that is none"),
    pytest.param(".csv", ",true", ",true,7", "2", id="a value too many"),
    pytest.param(".ndjson", '"pieces"', '"amount"', "pieces", id="a key has a new name"),
    pytest.param(".ndjson", "3,", '"3",', "pieces", id="a number is text"),
    pytest.param(".ndjson", '"Kyoto"', "26", "shop", id="a text is a number"),
    pytest.param(".ndjson", "3,", "[3],", "pieces", id="a value is a list"),
    pytest.param(".ndjson", "3,", '{"n": 3},', "pieces", id="a value is an object"),
    pytest.param(".ndjson", "true", '"yes"', "paid", id="a truth is text"),
    pytest.param(".ndjson", '"2024-03-09 10:00:00"', "1709978400", "sold_at", id="a time is a number"),
    pytest.param(".ndjson", "true}", "true", "1", id="a line was cut"),
]


def sales(contract: Path, kind: str) -> BronzeSource:
    def extract(extraction: Extraction) -> Iterator[Any]:
        file = extraction.settings.source_dir / f"{extraction.partition}{kind}"
        yield from read_csv(extraction, file) if kind == ".csv" else read_ndjson(extraction, file)

    return BronzeSource("sales", read_columns(contract), extract, f"*{kind}", partition_by="day")


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("contracts") / "bronze" / "sales.yml"
    file.parent.mkdir()
    file.write_text(CONTRACT)
    return file


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, contract: Path) -> Settings:
    """A lake that has the good day."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("the user's data"))
    write_file(settings, ".csv", GOOD[".csv"])
    assert not load(sales(contract, ".csv"), settings, [DAY]).failures
    return settings


def write_file(settings: Settings, kind: str, text: str) -> None:
    settings.source_dir.mkdir(parents=True, exist_ok=True)
    (settings.source_dir / f"{DAY}{kind}").write_text(text)


@pytest.mark.parametrize("kind", GOOD)
def test_the_file_as_it_should_be_is_published(settings: Settings, contract: Path, kind: str) -> None:
    write_file(settings, kind, GOOD[kind])
    report = load(sales(contract, kind), settings, [DAY])

    assert not report.failures
    assert {result.outcome for result in report.checks[DAY]} == {PASSED}


@pytest.mark.parametrize(("kind", "old", "new", "named"), FAULTS)
def test_a_changed_file_is_not_published(
    published: Settings, contract: Path, kind: str, old: str, new: str, named: str
) -> None:
    table = open_catalog(published).load_table("bronze.sales")
    assert old in GOOD[kind]
    write_file(published, kind, GOOD[kind].replace(old, new))
    report = load(sales(contract, kind), published, [DAY])

    assert list(report.failures) == [DAY]
    assert named in report.failures[DAY]
    assert f"{DAY}{kind}" in report.failures[DAY]
    assert open_catalog(published).load_table("bronze.sales").metadata_location == table.metadata_location


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [(".csv", "paid\n", "paid,till\n"), (".ndjson", "true}", 'true, "till": "7"}')],
)
def test_a_new_column_of_a_file_is_published_with_a_warning(
    settings: Settings, catalog: Catalog, contract: Path, kind: str, old: str, new: str
) -> None:
    text = GOOD[kind].replace(old, new).replace(",true\n", ",true,7\n")
    write_file(settings, kind, text)
    report = load(sales(contract, kind), settings, [DAY])

    assert not report.failures
    [gate] = [result for result in report.checks[DAY] if result.check == COLUMNS]
    assert gate.outcome == WARNED
    assert "till" in gate.note
    assert "till" in catalog.load_table("bronze.sales").schema().column_names


def test_the_end_of_a_cut_value_is_masked_as_the_value_is(settings: Settings, tmp_path: Path) -> None:
    contract = tmp_path / "bronze" / "sales.yml"
    contract.parent.mkdir()
    contract.write_text(
        CONTRACT.replace("name: paid, data_type: boolean", "name: paid, pii: personal, data_type: boolean")
    )
    assert contract.read_text() != CONTRACT
    write_file(settings, ".csv", GOOD[".csv"].rstrip("\n"))
    report = load(sales(contract, ".csv"), settings, [DAY])

    [gate] = [result for result in report.checks[DAY] if result.check == COLUMNS]
    assert "ends in '***'" in gate.note


def test_a_file_that_ends_within_its_last_value_is_published_with_a_warning(
    settings: Settings, contract: Path
) -> None:
    text = GOOD[".csv"].rstrip("\n")
    write_file(settings, ".csv", text)
    report = load(sales(contract, ".csv"), settings, [DAY])

    assert not report.failures
    [gate] = [result for result in report.checks[DAY] if result.check == COLUMNS]
    assert gate.outcome == WARNED
    assert f"paid may lack its end in {DAY}.csv: line {len(text.splitlines())}, the last one," in gate.note
