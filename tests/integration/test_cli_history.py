"""`lakehouse history` and `lakehouse query --as-of`: what a table was before."""

import json
import os
from datetime import UTC, datetime, timedelta
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
    """Rows of a query."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        self.connection = connection
        self.sql = sql

    def query(self, _: object) -> str:
        return self.sql


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    return Settings()


@pytest.fixture
def lake(settings: Settings) -> list[int]:
    """Three snapshots of one table, a second apart as their times are shown; returns their ids."""
    catalog, connection = open_catalog(settings), duckdb_session.connect(settings)
    spec = TableSpec("gold.sales")
    summary = {"lakehouse.run-id": "0123456789abcdef"}
    queries = ["select 1 as a, 'old' as b", "select 2 as a", "select 3 as a from range(5)"]
    results = [write.replace(catalog, spec, Source(connection, sql), summary) for sql in queries]
    return [result.snapshot_id or 0 for result in results]


def cli(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def times(settings: Settings) -> list[datetime]:
    table = load_table(open_catalog(settings), "gold.sales")
    assert table is not None
    return [datetime.fromtimestamp(entry.timestamp_ms / 1000, UTC) for entry in table.metadata.snapshot_log]


def test_history_lists_every_snapshot_the_newest_first(lake: list[int]) -> None:
    entries = json.loads(cli("history", "gold.sales", "--format", "json").stdout)
    assert [entry["snapshot_id"] for entry in entries] == lake[::-1]
    assert [entry["rows"] for entry in entries] == [5, 1, 1]
    assert [entry["rows_written"] for entry in entries] == [5, 1, 1]
    assert {entry["run_id"] for entry in entries} == {"0123456789abcdef"}
    header, first, *_ = cli("history", "gold.sales").stdout.splitlines()
    assert header.startswith("committed (UTC)")
    assert str(lake[-1]) in first
    assert "01234567" in first


def test_a_table_reads_as_it_was(lake: list[int], settings: Settings) -> None:
    from lakehouse.query import open_query

    moments = times(settings)
    answers = [
        open_query(settings, "select * from gold.sales", moment).execute("from answer").fetchall()
        for moment in moments
    ]
    assert answers == [[(1, "old")], [(2,)], [(3,)] * 5]


def test_a_time_before_the_table_is_refused_in_a_sentence(lake: list[int], settings: Settings) -> None:
    early = times(settings)[0] - timedelta(days=1)
    result = cli("query", "select * from gold.sales", "--as-of", f"{early:%Y-%m-%dT%H:%M:%S}")
    assert result.exit_code == 1
    assert "gold.sales cannot be read as of" in result.stderr
    assert "the history begins at" in result.stderr


def test_the_times_that_history_prints_are_understood(lake: list[int]) -> None:
    lines = cli("history", "gold.sales").stdout.splitlines()[1:]
    printed = [" ".join(line.split()[:2]) for line in lines]
    counts = [
        cli("query", "select count(*) from gold.sales", "--as-of", moment, "--format", "csv")
        for moment in printed
    ]
    assert [count.stdout.splitlines()[1] for count in counts] == ["5", "1", "1"]
    for moment in (printed[0] + "Z", printed[0].replace(" ", "T") + "+00:00"):
        assert cli("query", "select 1 from gold.sales", "--as-of", moment).exit_code == 0


def test_what_is_no_time_is_refused(lake: list[int]) -> None:
    result = cli("query", "select 1", "--as-of", "yesterday")
    assert result.exit_code == 2
    assert "'yesterday' is no time such as 2013-05-01" in result.stderr


def test_an_unknown_table_names_those_that_exist(lake: list[int]) -> None:
    result = cli("history", "gold.sale")
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no table gold.sale. Tables: gold.sales.\n"


def test_maintain_removes_what_no_snapshot_names_and_says_how_much(
    lake: list[int], settings: Settings
) -> None:
    folder = settings.warehouse_dir / "gold" / "sales" / "data"
    leftover = folder / "killed" / "data_0.parquet"
    leftover.parent.mkdir()
    leftover.write_bytes(b"x" * 2000)
    run = settings.dlt_dir / "runs" / "killed"
    run.mkdir(parents=True)
    long_ago = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    for path in (leftover, run):
        os.utime(path, (long_ago, long_ago))
    kept = set(folder.rglob("*.parquet")) - {leftover}

    dry = cli("maintain", "gold.sales", "--dry-run").stdout.splitlines()
    assert dry[1].split() == ["gold.sales", "1", "2.0", "kB"]
    assert leftover.exists()

    assert cli("maintain").exit_code == 0
    assert not leftover.exists()
    assert not run.exists()
    assert set(folder.rglob("*.parquet")) == kept
    assert cli("maintain", "gold.sale").stderr == "Error: There is no table gold.sale. Tables: gold.sales.\n"
