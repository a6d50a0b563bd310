from collections.abc import Iterator

import pytest
from orders_lake import OrdersLake, lake_with_a_good_week


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OrdersLake]:
    with lake_with_a_good_week(tmp_path_factory.mktemp("orders")) as lake:
        yield lake
