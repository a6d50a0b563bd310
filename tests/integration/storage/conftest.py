import pytest
from store import Store

from lakehouse.settings import Settings


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)
