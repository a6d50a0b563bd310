"""What Dagster keeps of each check of a run: a row that plans it, which then holds what it came to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from dagster import AssetCheckEvaluation
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus as Status
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable as Table
from sqlalchemy import and_, bindparam

if TYPE_CHECKING:
    from dagster._core.events.log import EventLogEntry
    from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
    from sqlalchemy.engine import Connection

IDENTITY = ("asset_key", "check_name", "run_id", "partition")
PLANNED = and_(*(Table.c[name].is_(bindparam(f"of_{name}")) for name in IDENTITY))

Row = dict[str, Any]


def note_results(
    storage: "SqlEventLogStorage",
    connection: "Connection",
    events: "Sequence[EventLogEntry]",
    rows: Sequence[Mapping[str, Any]],
    ids: Sequence[int],
) -> None:
    """Note what checks came to, where they were planned; a partition's failure in a row of its own.

    Dagster shows a check by its latest row, which of a range would be the last day's.

    Args:
        rows: the events as the event log has them.
        ids: by which it knows them.
    """
    results = [_result(*of) for of in zip(events, rows, ids, strict=True)]
    failures = [one for one in results if _is_failure(one)]
    if failures:
        connection.execute(Table.delete().where(PLANNED), [_planned(one) for one in failures])
        connection.execute(Table.insert(), failures)
    others = [one for one in results if not _is_failure(one)]
    update = Table.update().where(PLANNED)
    if others and connection.execute(update, [_planned(one) | one for one in others]).rowcount != len(others):
        for event, event_id, result in zip(events, ids, results, strict=True):
            if not _is_failure(result):  # Dagster's own way adds a row to what nobody planned
                storage._update_asset_check_evaluation(event, event_id)


def _result(event: "EventLogEntry", row: Mapping[str, Any], event_id: int) -> Row:
    said = cast("AssetCheckEvaluation", event.get_dagster_event().event_specific_data)
    target = said.target_materialization_data
    return {
        "asset_key": said.asset_key.to_string(),
        "check_name": said.check_name,
        "run_id": event.run_id,
        "partition": said.partition,
        "execution_status": (Status.SUCCEEDED if said.passed else Status.FAILED).value,
        "evaluation_event": row["event"],
        "evaluation_event_timestamp": row["timestamp"],
        "evaluation_event_storage_id": event_id,
        "materialization_event_storage_id": target and target.storage_id,
    }


def _is_failure(result: Row) -> bool:
    return result["execution_status"] == Status.FAILED.value and result["partition"] is not None


def _planned(result: Row) -> Row:
    """The values by which the row is found that planned a check."""
    return {f"of_{name}": result[name] for name in IDENTITY}
