"""Columns that are not the contract's are not published; a new one is, with a warning."""

import pytest
from drift_faults import FAULTS, GATE
from orders_lake import DAY, Fault, OrdersLake

from lakehouse.quality.check_result import FAILED, PASSED, WARNED
from lakehouse.storage.errors import SchemaConflictError

each_fault = pytest.mark.parametrize(
    ("fault", "said"), [pytest.param(*case, id=case[0].what) for case in FAULTS]
)


def test_there_are_ten_faults() -> None:
    assert len(FAULTS) >= 10


@each_fault
def test_a_table_stays_as_it_is(orders: OrdersLake, fault: Fault, said: str) -> None:
    before, columns = orders.snapshot, orders.columns
    try:
        written, results = orders.write(fault.sql, [DAY])
    except SchemaConflictError as refusal:
        column = said.split(" ", 1)[0]
        assert column in str(refusal)
    else:
        assert results[GATE].outcome == FAILED
        assert said in results[GATE].note
        assert said in written.failures[DAY]
    assert (orders.snapshot, orders.columns) == (before, columns)


def test_a_new_column_is_published_with_a_warning(orders: OrdersLake) -> None:
    written, results = orders.write("select *, n / 2 as weight from good", [DAY])

    assert not written.failures
    assert (results[GATE].outcome, results[GATE].note) == (
        WARNED,
        "weight (double) is not declared, and is kept",
    )
    assert orders.columns[-1] == "weight"


def test_a_narrower_type_is_published_in_the_declared_one(orders: OrdersLake) -> None:
    """No value is lost."""
    written, results = orders.write("select * replace (n::integer as n) from good", [DAY])

    assert not written.failures
    assert " n is " not in f" {results[GATE].note}"
    assert orders.read("select distinct typeof(n) from silver.orders") == [("BIGINT",)]


@pytest.fixture
def new_table(orders: OrdersLake) -> OrdersLake:
    if orders.catalog.table_exists("silver.orders"):
        orders.catalog.drop_table("silver.orders")
    return orders


@each_fault
def test_a_table_is_not_begun(new_table: OrdersLake, fault: Fault, said: str) -> None:
    written, results = new_table.write(fault.sql, [DAY])

    assert results[GATE].outcome == FAILED
    assert said in results[GATE].note
    assert list(written.failures) == [DAY]
    assert not new_table.catalog.table_exists("silver.orders")


def test_the_order_of_the_columns_does_not_matter(new_table: OrdersLake) -> None:
    written, results = new_table.write("select address, * exclude (address) from good", [DAY])

    assert (written.failures, results[GATE].outcome) == ({}, PASSED)
