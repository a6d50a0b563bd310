"""A small lakehouse for each test: a few real days, in a folder of its own."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from instances import in_memory

from demo.seed import daily_files, write_airports
from lakehouse.catalog import open_catalog
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan

Query = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def year_of_files() -> dict[str, str]:
    """Text of each day's file by its date."""
    return {name.removesuffix(".csv"): text for name, text in daily_files()}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings whose data is the test's own, for this process and those it starts."""
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LAKEHOUSE_CHUNK_PARTITIONS", "2")
    return Settings()


@pytest.fixture
def seed_days(settings: Settings, year_of_files: dict[str, str]) -> Callable[[Sequence[str]], None]:
    """Write the files of some days, and the airports."""

    def write(days: Sequence[str]) -> None:
        folder = settings.source_dir / "flights"
        folder.mkdir(parents=True, exist_ok=True)
        for day in days:
            (folder / f"{day}.csv").write_text(year_of_files[day], encoding="utf-8")
        if not (settings.source_dir / "operational.db").exists():
            write_airports(settings.source_dir / "operational.db")

    return write


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with in_memory() as instance:
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
