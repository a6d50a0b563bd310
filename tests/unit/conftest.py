"""Fixtures of the unit tests: settings in a folder of their own, a DuckDB connection."""

from pathlib import Path

import duckdb
import pytest

from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    duckdb_session.set_time_zone(connection)
    return connection
