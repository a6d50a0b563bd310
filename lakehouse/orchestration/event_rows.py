"""Rows of the event log, many at a time: Dagster writes each event out thrice and asks the index."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagster._core.events import DagsterEventType
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable

from lakehouse.orchestration.check_rows import note_results

if TYPE_CHECKING:
    from dagster._core.events.log import EventLogEntry
    from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

JUDGED = DagsterEventType.ASSET_CHECK_EVALUATION
TOGETHER = (DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_MATERIALIZATION_PLANNED, JUDGED)


def kind_of(event: "EventLogEntry") -> tuple[str, DagsterEventType] | None:
    """The run and the type of an event of which a run notes many; None: the event is noted alone."""
    kind = event.dagster_event_type
    of_asset = kind == JUDGED or (kind in TOGETHER and event.get_dagster_event().asset_key)
    return (event.run_id, kind) if kind and of_asset and event.run_id else None


def store_together(storage: "SqlEventLogStorage", events: "Sequence[EventLogEntry]") -> None:
    """Note events of one kind: in the run's log and in the index, with what the index keeps of each kind."""
    rows = [storage._event_to_row(event) for event in events]
    insert = SqlEventLogStorageTable.insert()
    with storage.run_connection(events[0].run_id) as connection:
        connection.execute(insert, rows)
    with storage.index_connection() as connection:
        numbered = insert.returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)
        ids: Sequence[int] = connection.execute(numbered, rows).scalars().all()
        if events[0].dagster_event_type == JUDGED:
            note_results(storage, connection, events, rows, ids)
            return
        storage._store_asset_event_tags(connection, events, ids)
        last = {row["asset_key"]: index for index, row in enumerate(rows)}
        for index in last.values():
            storage._store_asset_event(connection, events[index], ids[index])
