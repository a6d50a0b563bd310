"""Checks that passed, noted many at a time: Dagster writes each out three times and asks the index of it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from dagster import AssetCheckEvaluation
from dagster._core.events import DagsterEventType
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable
from sqlalchemy import Update, bindparam

if TYPE_CHECKING:
    from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

Rows = Sequence[Mapping[str, Any]]


def run_of_passed(event: EventLogEntry) -> str | None:
    """The run in which a check passed; None of any other event."""
    if event.dagster_event_type != DagsterEventType.ASSET_CHECK_EVALUATION:
        return None
    return event.run_id or None if _said(event).passed else None


def store_passed(storage: "SqlEventLogStorage", run_id: str, events: Sequence[EventLogEntry]) -> None:
    """Note checks that passed in a run: in the run's log, in the index, and on the rows that planned them.

    A check that no row planned gets one.
    """
    rows = [storage._event_to_row(event) for event in events]
    insert = SqlEventLogStorageTable.insert()
    with storage.run_connection(run_id) as connection:
        connection.execute(insert, rows)
    with storage.index_connection() as connection:
        numbered = insert.returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)
        ids: Sequence[int] = connection.execute(numbered, rows).scalars().all()
        results = [_result(*of) for of in zip(events, rows, ids, strict=True)]
        if connection.execute(_planned(), results).rowcount == len(results):
            return
    for event, event_id in zip(events, ids, strict=True):
        storage._update_asset_check_evaluation(event, event_id)


def _planned() -> Update:
    row = AssetCheckExecutionsTable.c
    return AssetCheckExecutionsTable.update().where(
        row.asset_key == bindparam("of_asset"),
        row.check_name == bindparam("of_check"),
        row.run_id == bindparam("of_run"),
        row.partition.is_(bindparam("of_partition")),
    )


def _result(event: EventLogEntry, row: Mapping[str, Any], event_id: int) -> dict[str, Any]:
    said = _said(event)
    target = said.target_materialization_data
    return {
        "of_asset": said.asset_key.to_string(),
        "of_check": said.check_name,
        "of_run": event.run_id,
        "of_partition": said.partition,
        "execution_status": AssetCheckExecutionRecordStatus.SUCCEEDED.value,
        "evaluation_event": row["event"],
        "evaluation_event_timestamp": row["timestamp"],
        "evaluation_event_storage_id": event_id,
        "materialization_event_storage_id": target and target.storage_id,
    }


def _said(event: EventLogEntry) -> AssetCheckEvaluation:
    return cast("AssetCheckEvaluation", event.get_dagster_event().event_specific_data)
