"""The year of the demo: the facts that the source is known for, and the same again when repeated."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
import yaml
from instances import in_memory

from demo.data import data_folder
from lakehouse.catalog import open_catalog
from lakehouse.settings import PROJECT_DIR, Settings
from lakehouse.storage import duckdb_session, scan

Query = Callable[[str], list[tuple[Any, ...]]]

CONTENTS = {
    "bronze.flights": "* exclude (_load_id, _loaded_at)",
    "bronze.weather": "* exclude (_load_id, _loaded_at)",
    "silver.flights": "*",
    "silver.weather": "*",
    "gold.daily_airport_performance": "*",
    "gold.daily_delay_by_weather": "*",
    "gold.monthly_carrier_performance": "*",
    "gold.monthly_fleet_age_and_delay": "*",
    "gold.monthly_route_reliability": "*",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data and the Dagster instance of one demo."""
    home = tmp_path_factory.mktemp("year")
    config = yaml.safe_load((PROJECT_DIR / "dagster.yaml").read_text())
    config["storage"]["custom"]["config"]["base_dir"] = str(home / "dagster")
    for part in ("local_artifact_storage", "compute_logs"):
        config[part]["config"]["base_dir"] = str(home / "dagster")
    (home / "dagster.yaml").write_text(yaml.safe_dump(config))
    return home


def demo(home: Path) -> str:
    """Run the demo as `make demo` does; returns what it prints."""
    finished = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=PROJECT_DIR,
        env=os.environ | {"LAKEHOUSE_DATA_DIR": str(home / "data"), "DAGSTER_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def first_output(home: Path) -> str:
    return demo(home)


@pytest.fixture(scope="module")
def settings(home: Path, first_output: str) -> Settings:
    """The settings of the built year."""
    return Settings(data_dir=home / "data")


@pytest.fixture
def query(settings: Settings) -> Query:
    def run(sql: str) -> list[tuple[Any, ...]]:
        connection = duckdb_session.connect(settings)
        catalog = open_catalog(settings)
        for name in scan.list_tables(catalog):
            scan.pin_current(connection, catalog.load_table(name))
        return connection.execute(sql).fetchall()

    return run


@pytest.fixture
def contents(query: Query) -> Callable[[], dict[str, list[tuple[Any, ...]]]]:
    """A fingerprint of every row of every table, however the rows are ordered."""

    def read() -> dict[str, list[tuple[Any, ...]]]:
        return {
            table: query(f"select count(*), sum(hash(rows)) from (select {columns} from {table}) as rows")
            for table, columns in CONTENTS.items()
        }

    return read


def snapshots(settings: Settings) -> dict[str, int | None]:
    catalog = open_catalog(settings)
    return {name: catalog.load_table(name).metadata.current_snapshot_id for name in scan.list_tables(catalog)}


def test_the_facts_of_the_source(query: Query) -> None:
    assert query("select count(*), count(distinct flight_date) from bronze.flights") == [(336_776, 365)]
    assert query(
        "select count(*), count_if(is_cancelled), avg(dep_delay) filter (not is_cancelled),"
        " count_if(not is_known_dest) from silver.flights"
    ) == [(336_776, 8_255, 12.639070257304708, 7_602)]
    assert query("select count(*) from silver.flights where sched_dep_utc::date <> flight_date") == [
        (38_444,)
    ]
    assert query(
        "select count(*) from silver.flights where dep_time = 2400"
        " and (dep_local::time <> time '00:00' or dep_local::date <= flight_date)"
    ) == [(0,)]


def test_the_facts_of_the_weather(query: Query) -> None:
    assert query("select count(*), count(distinct weather_date) from bronze.weather") == [(26_115, 364)]
    assert query(
        "select count(*), count_if(has_impossible_wind_speed), max(wind_speed_mph), max(hour_utc)::varchar"
        " from silver.weather"
    ) == [(26_115, 1, 1048.36058, "2013-12-30 23:00:00+00")]
    assert query(
        "select airport, hour_utc::varchar from silver.weather where is_repeated_hour order by all"
    ) == [(airport, "2013-11-03 06:00:00+00") for airport in ("EWR", "JFK", "LGA")]


def test_the_day_without_weather_is_a_built_partition(home: Path, first_output: str) -> None:
    with dg.DagsterInstance.from_config(str(home)) as instance:
        for layer in ("bronze", "silver"):
            event = instance.get_latest_materialization_event(dg.AssetKey([layer, "weather"]))
            assert event is not None
            days = instance.get_materialized_partitions(dg.AssetKey([layer, "weather"]))
            assert len(days) == 365
    assert "bronze.weather                      365 of 365 partitions" in first_output


@pytest.fixture
def data(settings: Settings, tmp_path: Path) -> Query:
    """SQL over the package's own files, with nothing of ours between."""
    with zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive:
        archive.extract("flights.csv", tmp_path)
    connection = duckdb.connect()
    files = {name: data_folder() / f"{name}.csv" for name in ("weather", "planes")}
    for name, file in (files | {"flights": tmp_path / "flights.csv"}).items():
        connection.execute(
            f"create table {name} as from read_csv('{file}', nullstr = 'NA', sample_size = -1)"
        )
    return lambda sql: connection.execute(sql).fetchall()


def test_delay_by_weather_is_the_datas(query: Query, data: Query) -> None:
    band = "case when visib < 1 then 'very poor' when visib < 3 then 'poor' when visib <= 5 then 'marginal'"
    band += " when visib > 5 then 'good' else 'unknown' end"
    by_visibility = data(
        f"select {band}, count(*), count(dep_time), sum(dep_delay)"
        " from flights left join weather using (origin, time_hour) group by 1 order by 1"
    )
    assert by_visibility == query(
        "select visibility, sum(flights), sum(flown), sum(total_dep_delay)"
        " from gold.daily_delay_by_weather group by 1 order by 1"
    )
    assert ("unknown", 1_556) in [row[:2] for row in by_visibility]


def test_route_reliability_is_the_datas(query: Query, data: Query) -> None:
    routes = data(
        "select month, origin, dest, count(*), count(*) filter (arr_delay < 15), median(arr_delay),"
        " quantile_cont(arr_delay, 0.9), count(distinct carrier) from flights group by all order by all"
    )
    assert len(routes) == 2_313
    assert routes == query(
        "select month(month), origin, dest, flights, on_time, median_arr_delay, p90_arr_delay, carriers"
        " from gold.monthly_route_reliability where is_complete order by all"
    )


def test_fleet_age_is_the_datas(query: Query, data: Query) -> None:
    ages = data(
        "select f.month, f.carrier, count(*), count(distinct f.tailnum), sum(2013 - p.year), sum(arr_delay),"
        " count(*) - count(p.tailnum)"
        " from flights f left join planes p using (tailnum) group by all order by all"
    )
    assert ages == query(
        "select month(month), carrier, sum(flights), sum(planes), sum(total_age), sum(total_arr_delay),"
        " sum(unlisted) from gold.monthly_fleet_age_and_delay where is_complete group by all order by all"
    )
    assert sum(row[-1] for row in ages) == 50_094 + 2_512


def test_gold_reconciles_with_silver_to_the_row(query: Query) -> None:
    assert query(
        "with daily as (select flight_date, origin, sum(flights) as flights, sum(total_dep_delay) as delay"
        "   from gold.daily_airport_performance group by all),"
        " silver as (select flight_date, origin, count(*) as flights, sum(dep_delay) as delay"
        "   from silver.flights group by all)"
        " select count(*) from daily full join silver using (flight_date, origin)"
        " where daily.flights is distinct from silver.flights or daily.delay is distinct from silver.delay"
    ) == [(0,)]
    assert query(
        "select sum(flights), count(distinct month), bool_and(is_complete)"
        " from gold.monthly_carrier_performance"
    ) == [(336_776, 12, True)]


def test_the_summary_says_what_the_tables_hold(first_output: str, query: Query) -> None:
    for table in CONTENTS:
        [(rows,)] = query(f"select count(*) from {table}")
        assert f"{rows:,} rows" in first_output
    [(carrier,)] = query(
        "select carrier from gold.monthly_carrier_performance group by carrier having sum(flights) >= 1000"
        " order by sum(total_dep_delay) / sum(flown) desc limit 1"
    )
    assert f"\n    {carrier}: " in first_output
    assert "make dev" in first_output
    assert "Traceback" not in first_output


def test_the_readme_shows_what_the_demo_prints(first_output: str) -> None:
    readme = (PROJECT_DIR / "README.md").read_text(encoding="utf-8")
    shown = readme.split("<!-- printed by make demo -->")[1].split("```")[1].removeprefix("text\n")
    lines = [line for line in shown.splitlines() if line.strip() and not line.startswith("Built in")]
    assert len(lines) > 10
    assert [line for line in lines if line not in first_output.splitlines()] == []


def test_the_warnings_that_the_readme_explains_are_the_datas(query: Query, first_output: str) -> None:
    readme = " ".join((PROJECT_DIR / "README.md").read_text(encoding="utf-8").split())
    [(unknown, unlisted)] = query(
        "select count_if(not is_known_dest), count(distinct flights.tailnum) filter (planes.tailnum is null)"
        " from silver.flights left join silver.planes on flights.tailnum = planes.tailnum"
    )
    [(undated,)] = query("select count(*) from silver.planes where year_built is null")
    [(wind,)] = query("select max(wind_speed_mph) from silver.weather")
    assert f"{unknown:,} flights go to airports" in readme
    assert f"{unlisted} planes that flew are not in planes and {undated} that are have no year" in readme
    assert f"a wind of {wind:,.0f} mph" in readme
    assert "The warnings are real" in readme
    assert ", 20 warned" in first_output


def test_a_second_demo_changes_nothing_and_says_so(home: Path, settings: Settings) -> None:
    before = snapshots(settings)
    output = demo(home)
    assert "nothing was changed" in output
    assert snapshots(settings) == before


def test_days_done_again_in_any_order_change_no_content(
    settings: Settings,
    contents: Callable[[], dict[str, list[tuple[Any, ...]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(settings.data_dir))
    from lakehouse.definitions import defs

    job = defs.resolve_implicit_global_asset_job_def()
    before, old = contents(), snapshots(settings)
    daily = [
        dg.AssetKey([layer, table]) for layer in ("bronze", "silver") for table in ("flights", "weather")
    ]
    with in_memory() as instance:
        for day in (date(2013, 11, 3), date(2013, 3, 10), date(2013, 12, 31)):
            assert job.execute_in_process(
                instance=instance, asset_selection=daily, partition_key=day.isoformat()
            ).success
        assert job.execute_in_process(
            instance=instance,
            asset_selection=[
                *daily,
                dg.AssetKey(["gold", "daily_airport_performance"]),
                dg.AssetKey(["gold", "daily_delay_by_weather"]),
            ],
            tags={
                "dagster/asset_partition_range_start": "2013-01-15",
                "dagster/asset_partition_range_end": "2013-02-20",
            },
        ).success
    assert contents() == before
    assert snapshots(settings)["silver.flights"] != old["silver.flights"]
