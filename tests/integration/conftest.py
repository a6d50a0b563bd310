"""Fixtures of the integration tests: settings in a folder of their own, its catalog, a DuckDB connection."""

from pathlib import Path

import duckdb
import pytest
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
