"""`lakehouse tables`: what the metadata says of each table."""

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec, load_table


class Source:
    """Rows of a query, limited to the partitions asked for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        self.connection = connection
        self.sql = sql

    def query(self, partitions: "list[date] | None") -> str:
        if partitions is None:
            return self.sql
        days = ", ".join(f"date '{day}'" for day in partitions)
        return f"select * from ({self.sql}) where d in ({days})"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    return Settings()


@pytest.fixture
def lake(settings: Settings) -> Settings:
    catalog, connection = open_catalog(settings), duckdb_session.connect(settings)
    days = [date(2013, 1, day) for day in range(1, 4)]
    by_day = Source(connection, "select date '2013-01-01' + i::int as d, i as x from range(3) r(i)")
    write.overwrite_partitions(catalog, TableSpec("bronze.days", "d"), by_day, days)
    write.overwrite_partitions(catalog, TableSpec("bronze.days", "d"), by_day, days[:1])
    write.replace(catalog, TableSpec("gold.whole"), Source(connection, "select i from range(1234) r(i)"))
    write.replace(catalog, TableSpec("gold.empty"), Source(connection, "select 1 as a where false"))
    return settings


def tables(*args: str) -> Result:
    return CliRunner().invoke(main, ["tables", *args])


def test_lists_every_table(lake: Settings) -> None:
    days, empty, whole = json.loads(tables("--format", "json").stdout)

    assert (days["name"], days["rows"], days["partitions"], days["snapshots"]) == ("bronze.days", 3, 3, 2)
    assert (whole["name"], whole["rows"], whole["partitions"], whole["snapshots"]) == (
        "gold.whole",
        1234,
        None,
        1,
    )
    assert (empty["name"], empty["rows"], empty["last_written"]) == ("gold.empty", 0, None)
    sizes = sum(file.stat().st_size for file in lake.warehouse_dir.glob("gold/whole/data/**/*.parquet"))
    assert whole["size_bytes"] == sizes
    age = datetime.now(UTC) - datetime.fromisoformat(whole["last_written"])
    assert 0 <= age.total_seconds() < 60


def test_is_readable_for_people(lake: Settings) -> None:
    header, days, empty, whole = tables().stdout.splitlines()

    assert re.split(r"  +", header) == [
        "name",
        "rows",
        "partitions",
        "size",
        "snapshots",
        "last written (UTC)",
    ]
    assert re.fullmatch(r"gold\.whole +1,234 +- +[\d.]+ k?B +1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", whole)
    assert days.split()[:3] == ["bronze.days", "3", "3"]
    assert empty.endswith("never")
    assert len({len(line) for line in (header, days, empty, whole)}) == 1


def test_scans_no_data(lake: Settings) -> None:
    for file in lake.warehouse_dir.glob("**/*.parquet"):
        file.unlink()

    assert [table["rows"] for table in json.loads(tables("--format", "json").stdout)] == [3, 0, 1234]


def test_empty_project_says_what_to_do_and_stays_empty(settings: Settings) -> None:
    result = tables()

    assert result.exit_code == 0 and "no tables yet" in result.stdout and "make dev" in result.stdout
    assert json.loads(tables("--format", "json").stdout) == []
    assert not settings.data_dir.exists()


@pytest.mark.parametrize("damage", ["missing", "not JSON"])
def test_a_broken_table_is_named_and_the_others_are_listed(lake: Settings, damage: str) -> None:
    table = load_table(open_catalog(lake), "gold.whole")
    assert table is not None
    metadata = Path(table.metadata_location)
    metadata.unlink() if damage == "missing" else metadata.write_text("{")

    result = tables()

    assert result.exit_code == 1
    assert "bronze.days" in result.stdout and "gold.whole" not in result.stdout
    assert result.stderr.startswith("Error: gold.whole cannot be read") and "backup" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["tables"], ["query", "from gold.whole"]])
@pytest.mark.parametrize("content", [b"this is no database" * 100, b""])
def test_unreadable_catalog(settings: Settings, command: list[str], content: bytes) -> None:
    settings.data_dir.mkdir()
    settings.catalog_file.write_bytes(content)

    result = CliRunner().invoke(main, command)

    assert result.exit_code == 1
    assert "catalog.db cannot be read" in result.stderr and "backup" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_wrong_setting_is_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_DUCKDB_THREADS", "many")

    result = tables()

    assert result.exit_code == 1 and result.stderr.startswith("Error: LAKEHOUSE_DUCKDB_THREADS: ")


def test_help_names_the_commands() -> None:
    result = CliRunner().invoke(main, ["--help"])

    assert result.exit_code == 0 and "query" in result.stdout and "tables" in result.stdout
