"""dbt without Dagster: `dbt build` and `dbt docs generate` in `dbt_project/`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from assets.bronze.airlines import AIRLINES
from assets.bronze.airports import AIRPORTS
from assets.bronze.flights import FLIGHTS
from assets.bronze.planes import PLANES
from assets.bronze.weather import WEATHER
from lakehouse.ingest.load import load
from lakehouse.settings import Settings

Query = Callable[[str], list[tuple[Any, ...]]]

DAYS = ["2013-11-02", "2013-11-03", "2013-11-04"]  # the clocks go back on the second


@pytest.fixture
def dbt(settings: Settings, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start dbt in the project's folder, each time with a target folder of its own."""

    def start(*args: str, target: str = "target", **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *args],
            cwd=settings.dbt_dir,
            env=os.environ
            | environment
            | {"DBT_TARGET_PATH": str(tmp_path / target), "DBT_LOG_PATH": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return start


@pytest.fixture
def bronze(settings: Settings, seed_days: Callable[[Sequence[str]], None]) -> None:
    """Three days in Bronze, loaded without Dagster too."""
    seed_days(DAYS)
    for reference in (AIRLINES, AIRPORTS, PLANES):
        load(reference, settings)
    for daily in (FLIGHTS, WEATHER):
        assert not load(daily, settings, [date.fromisoformat(day) for day in DAYS]).failures


def finish(process: subprocess.Popen[str], exit_code: int = 0) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == exit_code, output
    return output


@pytest.mark.usefixtures("bronze")
def test_build_and_docs(dbt: Callable[..., subprocess.Popen[str]], query: Query, tmp_path: Path) -> None:
    finish(dbt("build"))
    [(bronze, silver, daily, monthly)] = query(
        "select (select count(*) from bronze.flights), (select count(*) from silver.flights),"
        " (select sum(flights) from gold.daily_airport_performance),"
        " (select sum(flights) from gold.monthly_carrier_performance)"
    )
    assert bronze == silver == daily == monthly > 0

    finish(dbt("docs", "generate", "--static"))
    catalog = json.loads((tmp_path / "target" / "catalog.json").read_text())
    columns = catalog["nodes"]["model.lakehouse.flights"]["columns"]
    assert {"flight_date", "dep_utc", "is_known_dest"} < set(columns)
    assert columns["dep_utc"]["type"] == "TIMESTAMP WITH TIME ZONE"
    assert "source.lakehouse.bronze.flights" in catalog["sources"]
    page = (tmp_path / "target" / "static_index.html").read_text(encoding="utf-8")
    assert "TIMESTAMP WITH TIME ZONE" in page  # the file has the catalog in it: no server is needed
    assert "The partition." in page


@pytest.mark.usefixtures("bronze")
def test_first_partitions_built_at_once_do_not_overwrite_one_another(
    dbt: Callable[..., subprocess.Popen[str]], query: Query
) -> None:
    finish(dbt("run", "--select", "airports"))
    windows = [("2013-11-02", "2013-11-03"), ("2013-11-03", "2013-11-04"), ("2013-11-04", "2013-11-05")]
    running = [
        dbt(
            "run",
            "--select",
            "flights",
            target=f"target-{start}",
            LAKEHOUSE_PARTITION_START=start,
            LAKEHOUSE_PARTITION_END=end,
        )
        for start, end in windows
    ]
    for process in running:
        finish(process)
    by_day = "select flight_date, count(*) from {} group by 1 order by 1"
    assert query(by_day.format("silver.flights")) == query(by_day.format("bronze.flights"))


def test_a_window_that_is_none_is_refused_in_a_sentence(dbt: Callable[..., subprocess.Popen[str]]) -> None:
    output = finish(dbt("run", LAKEHOUSE_PARTITION_START="2013-11-02"), exit_code=2)
    assert "Set both LAKEHOUSE_PARTITION_START and LAKEHOUSE_PARTITION_END" in output
    assert "Traceback" not in output
