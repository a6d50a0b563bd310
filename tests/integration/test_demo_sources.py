"""The demo's sources: written whole, one day or all, and loadable as they are."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from assets.bronze.airlines import AIRLINES
from assets.bronze.planes import PLANES
from assets.bronze.weather import WEATHER
from demo.arrivals import days
from demo.cli import demo
from demo.data import data_folder
from demo.operational import write_database
from demo.seed import seed
from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.ingest.load import load
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    return Settings()


@pytest.fixture
def drop(settings: Settings) -> Callable[..., str]:
    def run(day: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(demo, ["drop", "--date", day])
        assert result.exit_code == exit_code, result.output
        return result.output

    return run


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def test_a_year_of_files_holds_every_row_of_the_data_and_a_second_time_writes_none(
    settings: Settings,
) -> None:
    assert seed(settings)
    flights = sorted((settings.source_dir / "flights").iterdir())
    weather = sorted((settings.source_dir / "weather").iterdir())
    assert [file.name for file in flights] == [f"{day}.csv" for day in days()]
    assert [file.name for file in weather] == [f"{day}.ndjson" for day in days()]
    assert sum(len(lines(file)) - 1 for file in flights) == 336_776
    assert sum(len(lines(file)) for file in weather) == 26_115
    assert weather[-1].read_bytes() == b""
    assert not seed(settings)

    weather[7].unlink()
    flights[8].write_text("changed by hand")
    assert seed(settings)
    assert len(lines(weather[7])) == 72
    assert flights[8].read_text() == "changed by hand"


def test_drop_writes_or_rewrites_one_day_whole(settings: Settings, drop: Callable[..., str]) -> None:
    output = drop("2013-11-03")
    flights, weather = (settings.source_dir / name for name in ("flights", "weather"))
    assert [file.name for folder in (flights, weather) for file in folder.iterdir()] == [
        "2013-11-03.csv",
        "2013-11-03.ndjson",
    ]
    assert "flights/2013-11-03.csv: 902 rows" in output
    assert "weather/2013-11-03.ndjson: 72 rows" in output
    repeated = [json.loads(line) for line in lines(weather / "2013-11-03.ndjson")]
    assert sum(row["hour"] == 1 for row in repeated) == 6

    (flights / "2013-11-03.csv").write_text("broken")
    drop("2013-11-03")
    assert len(lines(flights / "2013-11-03.csv")) == 1 + 902


def test_drop_says_what_is_no_day_of_the_demo(drop: Callable[..., str]) -> None:
    assert "2014-01-01 is no day of the demo" in drop("2014-01-01", exit_code=2)
    assert "'2013-02-30' does not match" in drop("2013-02-30", exit_code=2)


def test_the_command_line_has_the_demo_while_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    context = click.Context(main)
    assert main.get_command(context, "demo") is demo
    assert "demo" in main.list_commands(context)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main.get_command(context, "demo") is None
    assert "demo" not in main.list_commands(context)
    assert "query" in main.list_commands(context)


def test_an_older_demos_database_gets_the_tables_it_lacks(settings: Settings) -> None:
    settings.source_dir.mkdir(parents=True)
    with closing(sqlite3.connect(settings.source_dir / "operational.db")) as database, database:
        database.execute("create table airports (faa text primary key)")
    seed(settings)
    with closing(sqlite3.connect(settings.source_dir / "operational.db")) as database:
        assert database.execute("select count(*), count(year) from planes").fetchall() == [(3_322, 3_252)]


def test_the_sources_load_as_they_are(settings: Settings, drop: Callable[..., str]) -> None:
    """Every value of Bronze is the data's own; the day without weather is an empty partition."""
    wanted = [date(2013, 2, 12), date(2013, 11, 3), date(2013, 12, 31)]
    for day in wanted:
        drop(day.isoformat())
    write_database(settings.source_dir / "operational.db")
    report = load(WEATHER, settings, wanted)
    assert report.failures == {}
    assert report.result is not None
    assert report.result.partitions == {wanted[0]: 72, wanted[1]: 72, wanted[2]: 0}
    for source in (AIRLINES, PLANES):
        load(source, settings)

    connection, catalog = duckdb_session.connect(settings), open_catalog(settings)
    for name in ("bronze.weather", "bronze.airlines", "bronze.planes"):
        scan.pin_current(connection, catalog.load_table(name))
    for table, rows in (("weather", 144), ("airlines", 16), ("planes", 3_322)):
        data = f"read_csv('{data_folder()}/{table}.csv', nullstr = 'NA', sample_size = -1)"
        held = f"select * exclude (_load_id, _source_file, _loaded_at) from bronze.{table}"
        if table == "weather":
            held = held.replace("exclude (", "exclude (weather_date, ")
            data = f"(from {data} where make_date(year, month, day) in ('2013-02-12', '2013-11-03'))"
        assert connection.execute(
            f"select count(*) from (({held}) intersect all (select * from {data}))"
        ).fetchall() == [(rows,)]
