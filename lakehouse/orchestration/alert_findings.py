"""What a failed check, as Dagster is told of it, says in an alert: numbers and reasons, never rows."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from lakehouse.alerts.outcome import Finding, Kind
from lakehouse.orchestration.bronze_events import RECONCILIATION
from lakehouse.orchestration.contract_checks import UNJUDGED
from lakehouse.quality.contract import Contract
from lakehouse.quality.masking import masked_columns

Judged = dg.AssetCheckEvaluation | dg.AssetCheckResult

NUMBERS = ("rows_extracted", "rows_loaded", "rows_quarantined", "dagster_dbt/failed_row_count")
MEASURES_VALUES = ("aggregate", "metric")  # the greatest salary is one person's
WITHHELD = (
    "the run says why; a reason may quote a row, and the table has columns that say something of persons"
)


def partition_of(event: Any) -> str:
    """The partition that an event is of, "" for a whole table."""
    return getattr(event, "partition", None) or ""


def metadata_of(event: Judged | dg.AssetMaterialization) -> dict[str, Any]:
    """An event's metadata as plain values."""
    return {name: getattr(value, "value", value) for name, value in (event.metadata or {}).items()}


def finding_of(judged: Judged, table: str, meaning: str, contract: Contract | None) -> Finding | None:
    """A failed check; None if something else says what it would."""
    said, name = metadata_of(judged), str(judged.check_name)
    if said.get("not_evaluated") == UNJUDGED:
        return None  # so the partition was not published, for a reason that is told
    if name == RECONCILIATION and "not_published" in said:
        return None
    warns = judged.severity == dg.AssetCheckSeverity.WARN
    if warns and _quarantines(contract, name) and said.get("rows_quarantined"):
        return None  # its rows are told of
    kind = Kind.WARNING if warns else Kind.CHECK
    private = is_private(contract, name)
    return Finding(kind, table, partition_of(judged), name, meaning, _said(said, private=private))


def reason_for(contract: Contract | None, reason: str) -> str:
    """Why something was not published; what may quote a row of persons is left to the run."""
    return WITHHELD if masked_columns(contract) else reason


def _quarantines(contract: Contract | None, name: str) -> bool:
    return contract is not None and name in {check.name for check in contract.quarantining}


def is_private(contract: Contract | None, name: str) -> bool:
    """Whether what is measured may be a value of a person."""
    if contract is None or not masked_columns(contract):
        return False
    return any(check.name == name and check.type in MEASURES_VALUES for check in contract.checks)


def _said(said: Mapping[str, Any], *, private: bool) -> str:
    if private:
        return "what was measured is in the run"
    if note := said.get("note") or said.get("not_evaluated"):
        return str(note)
    if (measured := said.get("measured")) is not None:
        return ", ".join(filter(None, (f"{measured:g}", str(said.get("threshold", "")))))
    numbers = [f"{name.rpartition('/')[2]} {said[name]}" for name in NUMBERS if name in said]
    return ", ".join(numbers)
