"""Tables and evaluations for tests of the report."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lakehouse.operations.report.evaluations import Evaluation, Outcome
from lakehouse.operations.report.project import ProjectTable
from lakehouse.quality.contract import Contract, ContractColumn

NOW = datetime(2013, 6, 1, tzinfo=UTC)


def table(name: str, tier: int = 3, monthly: bool = False, pii: str | None = None) -> ProjectTable:
    """A table with a contract, of which one column may say something of a person."""
    columns = (ContractColumn(pii, "varchar", pii="personal"),) if pii else ()
    contract = Contract(name, "1.0.0", "team:x", tier, columns)
    return ProjectTable(name, partitioned=True, monthly=monthly, contract=contract)


def judged(
    name: str,
    check: str,
    outcome: Outcome = "passed",
    partition: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> Evaluation:
    """An evaluation of a check."""
    return Evaluation(name, check, partition, outcome, NOW, "run", details or {})
