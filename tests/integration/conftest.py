"""Fixtures of the integration tests: settings in a folder of their own, its catalog, DuckDB, Postgres."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from postgres import Postgres, running_postgres
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    # A space and a quote in every path: SQL that does not quote them fails.
    return Settings(data_dir=tmp_path / "the user's data")


@pytest.fixture
def catalog(settings: Settings) -> Catalog:
    return open_catalog(settings)


@pytest.fixture
def connection(settings: Settings) -> duckdb.DuckDBPyConnection:
    return duckdb_session.connect(settings)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server
