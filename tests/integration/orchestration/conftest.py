"""A small lakehouse for each test: a few real days, in a folder of its own."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from instances import in_memory, project_like

from demo.arrivals import files_of_day, flights_by_day, weather_by_day
from demo.seed import write_reference
from lakehouse.catalog import open_catalog
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan

Query = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def year_of_files() -> dict[str, str]:
    """Text of each day's file of flights by its date."""
    return {day.isoformat(): text for day, text in flights_by_day().items()}


@pytest.fixture(scope="session")
def year_of_weather() -> dict[str, str]:
    """Text of each day's file of weather by its date."""
    return {day.isoformat(): text for day, text in weather_by_day().items()}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings whose data is the test's own, for this process and those it starts."""
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LAKEHOUSE_CHUNK_PARTITIONS", "2")
    return Settings()


@pytest.fixture
def seed_days(
    settings: Settings, year_of_files: dict[str, str], year_of_weather: dict[str, str]
) -> Callable[[Sequence[str]], None]:
    """Write the files of some days, and the operational database."""

    def write(days: Sequence[str]) -> None:
        for day in days:
            flights, weather = files_of_day(settings.source_dir, date.fromisoformat(day))
            for file, text in ((flights, year_of_files[day]), (weather, year_of_weather[day])):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        write_reference(settings.source_dir)

    return write


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with in_memory() as instance:
        yield instance


@pytest.fixture
def kept_instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """One that keeps what ran as the project's own does."""
    with project_like(tmp_path) as instance:
        yield instance


@pytest.fixture
def query(settings: Settings) -> Query:
    """Run SQL over the tables as they are now."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        connection = duckdb_session.connect(settings)
        catalog = open_catalog(settings)
        for name in scan.list_tables(catalog):
            scan.pin_current(connection, catalog.load_table(name))
        return connection.execute(sql).fetchall()

    return run


@pytest.fixture
def materialize(instance: dg.DagsterInstance) -> Callable[..., dg.ExecuteInProcessResult]:
    """Run assets of this lakehouse: whole tables, one partition, or a range of them."""
    from lakehouse.definitions import defs

    job = defs.resolve_implicit_global_asset_job_def()

    def run(*assets: str, start: str | None = None, end: str | None = None) -> dg.ExecuteInProcessResult:
        tags = {}
        if end is not None:
            tags = {"dagster/asset_partition_range_start": start, "dagster/asset_partition_range_end": end}
        return job.execute_in_process(
            instance=instance,
            asset_selection=[dg.AssetKey(asset.split(".")) for asset in assets],
            partition_key=None if end is not None else start,
            tags=tags,
            raise_on_error=False,
        )

    return run
