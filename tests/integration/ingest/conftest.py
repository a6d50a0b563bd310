import duckdb
import pytest
from pyiceberg.catalog import Catalog
from sources import Lake

from lakehouse.settings import Settings


@pytest.fixture
def lake(settings: Settings, catalog: Catalog, connection: duckdb.DuckDBPyConnection) -> Lake:
    return Lake(settings, catalog, connection)
