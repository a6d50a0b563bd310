"""Setting a table back to a snapshot that it keeps: no data is written, what is undone stays in its history.

A rollback can be undone by another, to the snapshot that was current before it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakehouse.storage.errors import CommitConflictError, StorageError
from lakehouse.storage.loads import REPLACE, STRATEGY
from lakehouse.storage.producer import add_snapshot

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

ROLLBACKS = "lakehouse.rollbacks"  # a property of the table: its last ones, the oldest first, as JSON
KEEP_ROLLBACKS = 20


@dataclass(frozen=True)
class Rollback:
    """What setting one table back comes to.

    Args:
        now: the snapshot that is current.
        to: the one that is to be; None: the table had none yet, and is to have no rows.
        rows: of the table, now and then.
        partitions: those whose rows change, each with how many it has then; of a table without, none.
    """

    table: str
    now: int
    to: int | None
    rows: tuple[int, int]
    partitions: Mapping[date, int]


def plan_rollback(table: "Table", name: str, to: int | None) -> Rollback | None:
    """What would change if a snapshot (None: no rows at all) became the current one; None: nothing.

    Raises:
        StorageError: the table does not keep this snapshot.
    """
    now = table.metadata.current_snapshot_id
    if to is not None and table.metadata.snapshot_by_id(to) is None:
        raise StorageError(
            f"{name} keeps no snapshot {to}: `lakehouse history {name}` lists those that it does."
        )
    before, after = _files(table, now), _files(table, to)
    if now is None or now == to or (to is None and not before):
        return None
    changed = [_partition((before | after)[path]) for path in before.keys() ^ after.keys()]
    held = dict.fromkeys(sorted(day for day in changed if day is not None), 0)
    for file in after.values():
        if (day := _partition(file)) in held:
            held[day] += file.record_count
    return Rollback(name, now, to, (_rows(before), _rows(after)), held)


def left_at(table: "Table", name: str, snapshot_id: int) -> datetime:
    """The last moment at which a snapshot was the current one, in UTC; now, if it still is.

    Raises:
        StorageError: the table's log does not say it.
    """
    log = table.metadata.snapshot_log
    for entry, following in reversed([*pairwise(log)]):
        if entry.snapshot_id == snapshot_id:
            return datetime.fromtimestamp(following.timestamp_ms / 1000, UTC) - timedelta(milliseconds=1)
    if table.metadata.current_snapshot_id == snapshot_id:
        return datetime.now(UTC)
    raise StorageError(
        f"{name} does not say any more until when snapshot {snapshot_id} was the current one, so that what "
        "was built from it cannot be told: roll back each table by itself."
    )


def roll_back(catalog: "Catalog", plan: Rollback, by: str) -> "Table":
    """Do what was planned, in one commit that says who did it.

    Raises:
        CommitConflictError: the table has changed since it was planned, and is as it was.
    """
    from pyiceberg.exceptions import CommitFailedException

    table = catalog.load_table(plan.table)
    table.metadata.properties["commit.retry.num-retries"] = "0"  # a retry would undo another's commit
    if table.metadata.current_snapshot_id != plan.now:
        raise _changed(plan.table)
    transaction = table.transaction()
    if plan.to is None:
        files = [*_files(table, plan.now).values()]
        # As a replacement by nothing: the table holds no load any more.
        add_snapshot(transaction, [], files, {STRATEGY: REPLACE})
    else:
        transaction._stage(*transaction._set_ref_snapshot(plan.to, "main", "branch"))
    record = {"at": datetime.now(UTC).isoformat(), "from": plan.now, "to": plan.to, "by": by}
    done = [*rollbacks(table), record][-KEEP_ROLLBACKS:]
    transaction.set_properties({ROLLBACKS: json.dumps(done)})
    try:
        return transaction.commit_transaction()
    except CommitFailedException as error:
        raise _changed(plan.table) from error


def rollbacks(table: "Table") -> list[dict[str, Any]]:
    """The last rollbacks of a table, the oldest first: at, from, to, by."""
    done: list[dict[str, Any]] = json.loads(table.metadata.properties.get(ROLLBACKS, "[]"))
    return done


def _changed(name: str) -> CommitConflictError:
    return CommitConflictError(
        f"{name} was written while it was to be rolled back, and was not rolled back: look at "
        f"`lakehouse history {name}` and do it again."
    )


def _files(table: "Table", snapshot_id: int | None) -> "dict[str, DataFile]":
    """The data files of a snapshot by their paths."""
    if snapshot_id is None:
        return {}
    return {task.file.file_path: task.file for task in table.scan(snapshot_id=snapshot_id).plan_files()}


def _partition(file: "DataFile") -> date | None:
    """The date that a file's rows share; of a table without partitions, or of rows without a date, none."""
    from pyiceberg.utils.datetime import days_to_date

    day = file.partition[0] if len(file.partition) else None
    return days_to_date(day) if isinstance(day, int) else None


def _rows(files: "Mapping[str, DataFile]") -> int:
    return sum(file.record_count for file in files.values())
