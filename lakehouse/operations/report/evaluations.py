"""What the checks came to last, read from Dagster's history in one query.

Asking Dagster check by check reads each evaluation whole: a year of partitions has tens of thousands.
Here only those that did not pass are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from lakehouse.quality.distribution.judge import TOO_SHORT

if TYPE_CHECKING:
    import dagster as dg
    from sqlalchemy import Row, Select

Outcome = Literal["passed", "warned", "failed"]


@dataclass(frozen=True)
class Evaluation:
    """The last evaluation of a check on one partition, or (None) on the table.

    Args:
        table: `layer.table`.
        outcome: warned where the failure was no error.
        at: in UTC.
        details: what the check said, if it did not pass.
        judged: whether it had enough to compare with; one that had not passes, and says nothing.
    """

    table: str
    check: str
    partition: str | None
    outcome: Outcome
    at: datetime
    run_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    judged: bool = True


def latest_evaluations(instance: "dg.DagsterInstance") -> list[Evaluation]:
    """The last evaluation of every check on every partition.

    Raises:
        TypeError: Dagster's history is not in a SQL database.
    """
    from dagster._core.storage.event_log import SqlEventLogStorage

    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        raise TypeError(f"The checks' history is in {type(storage).__name__}, which is no SQL database.")
    with storage.index_connection() as connection:
        rows = connection.execute(_latest()).fetchall()
    return [_evaluation(row) for row in rows]


def _latest() -> "Select[Any]":
    """Of passed evaluations without their event, which takes most of the time to read."""
    from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus as Status
    from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
    from sqlalchemy import case, func, select

    table = AssetCheckExecutionsTable.c
    judged = table.execution_status.in_([Status.SUCCEEDED.value, Status.FAILED.value])
    newest = (
        select(func.max(table.id)).where(judged).group_by(table.asset_key, table.check_name, table.partition)
    )
    event = case((table.execution_status == Status.FAILED.value, table.evaluation_event))
    return select(
        table.asset_key,
        table.check_name,
        table.partition,
        table.evaluation_event_timestamp,
        table.run_id,
        event.label("event"),
        table.evaluation_event.contains(f'"{TOO_SHORT}: ', autoescape=True).label("too_short"),
    ).where(table.id.in_(newest))


def _evaluation(row: "Row[Any]") -> Evaluation:
    from dagster import AssetKey

    key = AssetKey.from_db_string(row.asset_key)
    outcome, details = _said(row.event) if row.event else ("passed", {})
    return Evaluation(
        table=".".join(key.path) if key else "",
        check=row.check_name,
        partition=row.partition,
        outcome=outcome,
        at=row.evaluation_event_timestamp.replace(tzinfo=UTC),
        run_id=row.run_id or "",
        details=details,
        judged=outcome != "passed" or not row.too_short,
    )


def _said(event: str) -> tuple[Outcome, Mapping[str, Any]]:
    """How bad it is, and the metadata as plain values."""
    from dagster import AssetCheckSeverity, EventLogEntry
    from dagster._serdes import deserialize_value

    judged: Any = deserialize_value(event, EventLogEntry).get_dagster_event().event_specific_data
    outcome: Outcome = "warned" if judged.severity == AssetCheckSeverity.WARN else "failed"
    return outcome, {name: getattr(value, "value", value) for name, value in judged.metadata.items()}
