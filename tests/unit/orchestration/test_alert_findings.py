"""A check's result in an alert: numbers, and nothing that may be a value of a person."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest

from lakehouse.alerts.outcome import Kind
from lakehouse.orchestration.alert_findings import WITHHELD, finding_of, reason_for
from lakehouse.orchestration.contract_checks import UNJUDGED
from lakehouse.quality.contract import Contract, ContractColumn
from lakehouse.quality.contract_checks import ContractCheck

CHECKS = (
    ContractCheck("validity_salary_max", "aggregate", "validity", "salary"),
    ContractCheck("validity_name", "invalid", "validity", "name", quarantines=True),
    ContractCheck("uniqueness_name", "duplicate", "uniqueness", "name"),
)


def contract(pii: Any) -> Contract:
    columns = (ContractColumn("name", "varchar", pii=pii), ContractColumn("salary", "double"))
    return Contract("silver.staff", "1.0.0", "team:hr", 1, columns, CHECKS)


def judged(name: str, metadata: Mapping[str, Any], *, warns: bool = False) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        dg.AssetKey(["silver", "staff"]),
        name,
        passed=False,
        metadata=metadata,
        partition="2013-01-01",
        severity=dg.AssetCheckSeverity.WARN if warns else dg.AssetCheckSeverity.ERROR,
    )


@pytest.mark.parametrize(
    ("name", "metadata", "said"),
    [
        ("uniqueness_name", {"measured": 3.0, "threshold": "must be 0", "sample": "| Ada |"}, "3, must be 0"),
        ("uniqueness_name", {"measured": 3.0, "note": "3 of 9 rows"}, "3 of 9 rows"),
        ("uniqueness_name", {"not_evaluated": "silver.t was never built"}, "silver.t was never built"),
        ("validity_salary_max", {"measured": 99.0}, "what was measured is in the run"),
        ("reconciliation", {"rows_extracted": 9, "rows_loaded": 8}, "rows_extracted 9, rows_loaded 8"),
    ],
)
def test_what_is_said_of_a_check(name: str, metadata: Mapping[str, Any], said: str) -> None:
    finding = finding_of(judged(name, metadata), "silver.staff", "", contract("personal"))
    assert finding is not None
    assert (finding.kind, finding.partition, finding.said) == (Kind.CHECK, "2013-01-01", said)


def test_a_greatest_value_is_told_where_no_column_is_about_persons() -> None:
    finding = finding_of(
        judged("validity_salary_max", {"measured": 99.0}), "silver.staff", "", contract("none")
    )
    assert finding is not None
    assert finding.said == "99"


@pytest.mark.parametrize(
    ("name", "metadata", "warns"),
    [
        ("uniqueness_name", {"not_evaluated": UNJUDGED, "not_published": "no file"}, False),
        ("reconciliation", {"rows_extracted": 9, "not_published": "no file"}, False),
        ("reconciliation", {"not_published": "no file"}, False),
        ("validity_name", {"rows_quarantined": 3.0, "measured": 3.0}, True),
    ],
)
def test_what_is_told_otherwise_is_no_finding(name: str, metadata: Mapping[str, Any], warns: bool) -> None:
    assert finding_of(judged(name, metadata, warns=warns), "silver.staff", "", contract("none")) is None


def test_a_reason_that_may_quote_a_person_is_left_to_the_run() -> None:
    assert reason_for(contract("personal"), "line 3: name is Ada") == WITHHELD
    assert reason_for(contract("none"), "line 3: hour is n/a") == "line 3: hour is n/a"
