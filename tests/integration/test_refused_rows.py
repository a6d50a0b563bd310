"""Rows that a blocking check refused: the table is as it was, they can be queried, and go after a while."""

import json
import time
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lakehouse import maintain
from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.load import LoadReport, load
from lakehouse.ingest.source import BronzeSource
from lakehouse.settings import Settings

D1, D2 = date(2013, 1, 1), date(2013, 1, 2)
DAY = 24 * 3600
CONTRACT = """
dataset: lakehouse/bronze/daily
version: "1.0.0"
owner: team:flights
tier: 3
columns:
  - {name: d, data_type: date}
  - name: id
    data_type: integer
    checks:
      - invalid: {name: ids are small, valid_max: 9}
"""


class Lake:
    """A table by day whose contract has one blocking check."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        contract = settings.contracts_dir / "bronze" / "daily.yml"
        contract.parent.mkdir(parents=True)
        contract.write_text(CONTRACT)
        self.source = BronzeSource(
            "daily",
            read_columns(contract),
            lambda extraction: read_csv(extraction, settings.source_dir / f"{extraction.partition}.csv"),
            "*.csv",
            partition_by="d",
        )

    def load(self, run_id: str, **ids: list[int]) -> LoadReport:
        """Load days, given as d1 and d2."""
        days = {"d1": D1, "d2": D2}
        self.settings.source_dir.mkdir(parents=True, exist_ok=True)
        for day, values in ids.items():
            lines = "".join(f"{days[day]},{value}\n" for value in values)
            (self.settings.source_dir / f"{days[day]}.csv").write_text(f"d,id\n{lines}")
        return load(self.source, self.settings, [days[day] for day in ids], run_id)

    def snapshot(self) -> int | None:
        return open_catalog(self.settings).load_table("bronze.daily").metadata.current_snapshot_id


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("LAKEHOUSE_PROJECT_DIR", str(tmp_path / "the user's=project"))
    return Lake(Settings())


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def ask(sql: str) -> list[dict[str, object]]:
    result = run("query", sql, "--format", "json")
    assert result.exit_code == 0, result.output
    rows: list[dict[str, object]] = json.loads(result.stdout)
    return rows


def failing_rows(report: LoadReport, day: date) -> str:
    [sql] = [check.failing_rows for check in report.checks[day] if check.failing_rows]
    return sql


def test_a_refused_day_leaves_the_table_and_is_found_by_the_checks_sql(lake: Lake) -> None:
    lake.load("good", d1=[1], d2=[2])
    before = lake.snapshot()

    report = lake.load("bad", d2=[3, 10, 11])

    assert list(report.failures) == [D2]
    assert lake.snapshot() == before
    assert ask("select id from bronze.daily order by id") == [{"id": 1}, {"id": 2}]
    sql = failing_rows(report, D2)
    assert "from refused.bronze_daily" in sql
    found = ask(f"select id, run_id, refused_partition from ({sql}) order by id")
    assert found == [{"id": id_, "run_id": "bad", "refused_partition": "2013-01-02"} for id_ in (10, 11)]
    assert ask("select count(*) as n from refused.bronze_daily") == [{"n": 3}]


def test_runs_are_told_apart_and_one_that_is_done_again_counts_once(lake: Lake) -> None:
    for run_id in ("one", "two", "two"):
        lake.load(run_id, d1=[10])

    rows = ask("select run_id, count(*) as n from Refused.Bronze_Daily group by 1 order by 1")

    assert rows == [{"run_id": "one", "n": 1}, {"run_id": "two", "n": 1}]


def test_the_first_load_may_be_refused(lake: Lake) -> None:
    lake.load("first", d1=[10])

    assert ask("select id from refused.bronze_daily") == [{"id": 10}]
    assert "There is no table refused.nope. Tables:" in run("query", "from refused.nope").stderr


def test_refused_rows_have_no_history(lake: Lake) -> None:
    lake.load("bad", d1=[10])

    result = run("query", "from refused.bronze_daily", "--as-of", "2013-01-01")

    assert result.exit_code == 1
    assert "have no history: leave --as-of out" in result.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "select * from refused.bronze_daily, read_text('{secret}')",
        "from '{folder}/run_id=bad/refused_partition=2013-01-01/0.parquet'",
        "copy refused.bronze_daily to '{folder}/evil.csv'",
    ],
)
def test_the_walls_stand_around_refused_rows_too(lake: Lake, tmp_path: Path, sql: str) -> None:
    lake.load("bad", d1=[10])
    (tmp_path / "secret").write_text("the-secret-text")
    folder = lake.settings.data_dir / "refused" / "bronze.daily"

    result = run("query", sql.format(secret=tmp_path / "secret", folder=str(folder).replace("'", "''")))

    assert result.exit_code in (1, 2)
    assert "the-secret-text" not in result.output
    assert not (folder / "evil.csv").exists()


def test_the_engine_opens_only_the_folder_that_is_named(lake: Lake, tmp_path: Path) -> None:
    import duckdb

    from lakehouse.query import open_query

    lake.load("bad", d1=[10])
    (tmp_path / "secret").write_text("the-secret-text")
    connection = open_query(lake.settings, "from refused.bronze_daily")

    assert connection.execute("select id from answer").fetchall() == [(10,)]
    with pytest.raises(duckdb.PermissionException):
        connection.execute(f"from read_text('{tmp_path / 'secret'}')").fetchall()


def test_maintain_removes_them_when_they_are_old(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.load("good", d2=[1])
    lake.load("bad", d1=[10])
    folder = lake.settings.data_dir / "refused"
    now = time.time()
    monkeypatch.setattr(maintain.time, "time", lambda: now + 29 * DAY)
    assert "refused rows" in run("maintain").stdout
    assert ask("select id from refused.bronze_daily") == [{"id": 10}]

    monkeypatch.setattr(maintain.time, "time", lambda: now + 31 * DAY)
    dry = run("maintain", "--dry-run").stdout
    assert ask("select id from refused.bronze_daily") == [{"id": 10}]
    said = run("maintain").stdout

    for output in (dry, said):
        [line] = [line for line in output.splitlines() if line.startswith("refused rows")]
        assert line.split()[2] == "1"
    assert "There is no table refused.bronze_daily" in run("query", "from refused.bronze_daily").stderr
    assert not list(folder.iterdir())
    assert ask("select id from bronze.daily") == [{"id": 1}]


def test_a_setting_says_how_old(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.load("good", d2=[1])
    lake.load("bad", d1=[10])
    monkeypatch.setenv("LAKEHOUSE_REFUSED_DAYS", "1")
    now = time.time()
    monkeypatch.setattr(maintain.time, "time", lambda: now + 2 * DAY)
    run("maintain")

    assert not list((lake.settings.data_dir / "refused").iterdir())
