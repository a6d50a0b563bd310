"""`lakehouse profile`: profiles of what was published before anybody asked for them."""

from datetime import date
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.quality.distribution.profile_table import ProfileTable
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec

CONTRACT = """\
dataset: lakehouse/silver/sales
version: "1.0.0"
owner: team:tests
tier: 3
columns:
- {name: day, data_type: date}
- {name: price, data_type: "decimal(8, 2)"}
"""
DISTRIBUTION = "distribution: {columns: {price: {ks: {warn: 0.2}}}}\n"
ROWS = "select date '2024-05-01' + (i // 10)::integer as day, i::decimal(8, 2) as price from range(30) r(i)"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LAKEHOUSE_PROJECT_DIR", str(tmp_path))
    (tmp_path / "checks/silver").mkdir(parents=True)
    (tmp_path / "checks/silver/sales.yml").write_text(CONTRACT + DISTRIBUTION)
    return Settings()


class Source:
    """Rows of a query."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        self.connection = connection
        self.sql = sql

    def query(self, _: object) -> str:
        return self.sql


def publish(settings: Settings, sql: str, partition_by: str | None = "day") -> None:
    spec = TableSpec("silver.sales", partition_by=partition_by)
    write.replace(open_catalog(settings), spec, Source(duckdb_session.connect(settings), sql))


def profiled(settings: Settings) -> dict[date, float | None]:
    """The mean price of each day that is profiled."""
    kept = ProfileTable(open_catalog(settings), "silver.sales", 100).read(duckdb_session.connect(settings))
    return {day: profile.columns["price"].mean for day, profile in kept.items()}


def cli(*args: str) -> Result:
    return CliRunner().invoke(main, ["profile", *args])


def test_all_that_is_published_is_profiled(settings: Settings) -> None:
    publish(settings, ROWS)

    result = cli("silver.sales")

    assert (result.exit_code, result.output) == (0, "3 partitions of silver.sales are profiled.\n")
    assert profiled(settings) == {date(2024, 5, 1): 4.5, date(2024, 5, 2): 14.5, date(2024, 5, 3): 24.5}


def test_a_part_leaves_the_other_profiles_as_they_are(settings: Settings) -> None:
    publish(settings, ROWS)
    cli("silver.sales")
    publish(settings, f"select * replace (price + 100 as price) from ({ROWS}) where day <> '2024-05-02'")

    result = cli("silver.sales", "--from", "2024-05-02", "--to", "2024-05-03")

    assert result.output == "1 partitions of silver.sales are profiled.\n"
    assert profiled(settings) == {date(2024, 5, 1): 4.5, date(2024, 5, 3): 124.5}


def test_a_table_that_was_never_built(settings: Settings) -> None:
    result = cli("silver.sales")

    assert (result.exit_code, result.output) == (
        1,
        "Error: silver.sales does not exist yet: materialize it first.\n",
    )


def test_a_table_without_partitions(settings: Settings) -> None:
    publish(settings, ROWS, partition_by=None)

    assert cli("silver.sales").output == "Error: silver.sales has no partitions: there are none to compare.\n"


def test_a_contract_that_asks_for_nothing(settings: Settings) -> None:
    (settings.contracts_dir / "silver/sales.yml").write_text(CONTRACT)

    assert cli("silver.sales").output == (
        "Error: The contract of silver.sales asks for no `distribution`: add it first.\n"
    )


def test_rows_that_are_not_as_the_contract_says(settings: Settings) -> None:
    publish(settings, f"select * replace ('dear' as price) from ({ROWS})")

    result = cli("silver.sales")

    assert result.exit_code == 1
    assert result.output.startswith("Error: silver.sales cannot be profiled: Conversion Error")
