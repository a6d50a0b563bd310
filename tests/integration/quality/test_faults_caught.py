"""Faults of each dimension, each put alone into a good day, are caught by the check that is meant for it."""

from collections.abc import Iterator

import completeness_faults
import freshness_faults
import pytest
import uniqueness_faults
import validity_faults
from orders_lake import CONTRACT, DAY, GOOD, WEEK, Fault, OrdersLake

from lakehouse.quality.check_keys import CHECK_KEYS
from lakehouse.quality.check_result import FAILED, PASSED
from lakehouse.quality.gates import GOOD_ROWS, ROW_COUNT

FAULTS = {
    "freshness": freshness_faults.FAULTS,
    "completeness": completeness_faults.FAULTS,
    "uniqueness": uniqueness_faults.FAULTS,
    "validity": validity_faults.FAULTS,
}
CHECKS = {check.name: check for check in CONTRACT.checks}
# The ways in which a check of each type can say what is bad.
FORMS = {
    "missing": {"missing_values", "missing_format", "column_expression"},
    "row_count": {"filter"},
    "duplicate": {"columns", "filter", "column_expression"},
    "invalid": {key for key in CHECK_KEYS["invalid"] if "valid" in key},
    "failed_rows": {"expression", "query"},
    "aggregate": {"function", "filter"},
    "metric": {"expression", "query"},
    "freshness": {"column", "filter"},
}
FUNCTIONS = {"avg", "min", "max", "sum", "avg_length", "min_length", "max_length"}  # that Soda has


def cases(*, quarantined: bool) -> Iterator[object]:
    for dimension, faults in FAULTS.items():
        for fault in faults:
            if bool(fault.quarantined) is quarantined:
                yield pytest.param(dimension, fault, id=f"{dimension}: {fault.what}")


def test_the_contract_passes_good_rows(orders: OrdersLake) -> None:
    before = orders.snapshot
    written, results = orders.write("from good", [DAY])

    assert {result.outcome for result in results.values()} == {PASSED}
    assert set(CHECKS) < set(results)
    assert written.snapshot_id == orders.snapshot != before


@pytest.mark.parametrize(("dimension", "fault"), cases(quarantined=False))
def test_a_fault_is_not_published(orders: OrdersLake, dimension: str, fault: Fault) -> None:
    before = orders.snapshot
    written, results = orders.write(fault.sql, [DAY])

    assert results[fault.check].outcome == FAILED
    assert fault.check.startswith(f"{dimension}_")
    assert fault.check in written.failures[DAY]
    assert orders.snapshot == before


@pytest.mark.parametrize(("dimension", "fault"), cases(quarantined=True))
def test_a_bad_row_is_in_quarantine_and_the_others_are_published(
    orders: OrdersLake, dimension: str, fault: Fault
) -> None:
    written, results = orders.write(fault.sql, [DAY])

    assert not written.failures
    assert results[fault.check].outcome == FAILED
    assert fault.check.startswith(f"{dimension}_")
    [(rule, count)] = orders.read(
        f"select rule, count(*) from quarantine.silver_orders where partition = date '{DAY}' group by all"
    )
    assert (rule, count) == (fault.check, fault.quarantined)
    [(published,)] = orders.read(f"select count(*) from silver.orders where order_date = date '{DAY}'")
    assert published == 48 - count


def test_the_other_days_of_a_write_are_published(orders: OrdersLake) -> None:
    fault = uniqueness_faults.FAULTS[0]
    good_day = GOOD.format(day=WEEK[-1])
    written, _ = orders.write(f"{fault.sql} union all {good_day}", [WEEK[-1], DAY])

    assert (list(written.partitions), list(written.failures)) == ([WEEK[-1]], [DAY])


def test_ten_faults_of_each_dimension_and_one_of_each_check() -> None:
    caught = {fault.check for faults in FAULTS.values() for fault in faults}

    assert all(len(faults) >= 10 for faults in FAULTS.values())
    assert caught == {*CHECKS, ROW_COUNT, GOOD_ROWS}


def test_every_form_of_every_check_type_is_among_them() -> None:
    used = {
        kind: {key for check in CONTRACT.checks if check.type == kind for key in check.body}
        for kind in CHECK_KEYS
    }
    assert used.keys() == FORMS.keys()
    assert {kind: forms - used[kind] for kind, forms in FORMS.items() if forms - used[kind]} == {}
    assert {check.body["function"] for check in CONTRACT.checks if check.type == "aggregate"} == FUNCTIONS


@pytest.mark.parametrize("dimension", FAULTS)
def test_a_day_is_judged_beside_others_as_it_is_alone(orders: OrdersLake, dimension: str) -> None:
    """The days of a write are held in memory together; a check sees the rows of its own day."""
    fault = next(fault for fault in FAULTS[dimension] if not fault.quarantined)
    good_day = GOOD.format(day=WEEK[-1])
    _, alone = orders.write(fault.sql, [DAY])
    _, beside = orders.write(f"{fault.sql} union all by name {good_day}", [WEEK[-1], DAY])

    assert beside == alone
    assert beside[fault.check].outcome == FAILED
