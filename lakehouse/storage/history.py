"""A table's history: its snapshots, what made each, and which one was current at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakehouse.storage.commit import PARTITIONS, ROWS, RUN_ID
from lakehouse.storage.errors import StorageError
from lakehouse.storage.loads import LOAD_ID, ancestors

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot, SnapshotLogEntry


@dataclass(frozen=True)
class Entry:
    """One snapshot of a table.

    Args:
        committed: when, in UTC.
        operation: append, overwrite or delete, as Iceberg calls it.
        rows_written: rows that the commit brought; None for one that another tool made.
        rows: rows of the table afterwards.
        partitions: the partitions that were replaced, empty for a write of the whole table.
        state: current, undone (a rollback went behind it), or empty: the current one was made from it.
    """

    committed: datetime
    snapshot_id: int
    operation: str
    rows_written: int | None
    rows: int
    partitions: tuple[str, ...]
    run_id: str | None
    load_id: str | None
    state: str


def read_history(table: "Table") -> list[Entry]:
    """The snapshots that the table keeps, the newest first."""
    snapshots = sorted(table.metadata.snapshots, key=lambda snapshot: snapshot.sequence_number or 0)
    kept = {snapshot.snapshot_id for snapshot in ancestors(table.metadata)}
    current = table.metadata.current_snapshot_id
    # Before the first that is kept nobody can say.
    known = False
    entries = []
    for snapshot in snapshots:
        known = known or snapshot.snapshot_id in kept
        undone = "undone" if known and snapshot.snapshot_id not in kept else ""
        entries.append(_entry(snapshot, "current" if snapshot.snapshot_id == current else undone))
    return entries[::-1]


def snapshot_as_of(table: "Table", when: datetime, name: str) -> int:
    """The snapshot that was current at a time.

    Raises:
        StorageError: the table did not exist yet, or its history does not go back so far.
    """
    milliseconds = round(when.timestamp() * 1000)
    log = [entry for entry in table.metadata.snapshot_log if entry.timestamp_ms <= milliseconds]
    if log and _is_known_until(table, log[-1], table.metadata.snapshot_log[len(log) :]):
        return log[-1].snapshot_id
    first = min((snapshot.timestamp_ms for snapshot in table.metadata.snapshots), default=None)
    known = f"the history begins at {time_text(utc(first))} UTC" if first else "it is empty"
    raise StorageError(f"{name} cannot be read as of {when.isoformat(sep=' ')}: {known}.")


def began_after(table: "Table", moment: datetime) -> bool:
    """Whether a table was first written after a moment; not if its history does not say any more."""
    first = min(table.metadata.snapshots, key=lambda snapshot: snapshot.sequence_number or 0, default=None)
    return first is None or (first.parent_snapshot_id is None and utc(first.timestamp_ms) > moment)


def time_text(moment: datetime) -> str:
    """A time in UTC to the millisecond: snapshots may be less than a second apart."""
    return moment.astimezone(UTC).isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


def _is_known_until(table: "Table", entry: "SnapshotLogEntry", later: "Sequence[SnapshotLogEntry]") -> bool:
    """Whether a snapshot is kept, and no dropped one was current between it and the next that is.

    A tag keeps a snapshot whose successors are gone.
    """
    if table.metadata.snapshot_by_id(entry.snapshot_id) is None:
        return False
    following = table.metadata.snapshot_by_id(later[0].snapshot_id) if later else None
    if following is None or following.timestamp_ms != later[0].timestamp_ms:
        return True  # the next is a rollback's, of which the log leaves nothing out
    return following.parent_snapshot_id == entry.snapshot_id


def _entry(snapshot: "Snapshot", state: str) -> Entry:
    summary: Mapping[str, str] = snapshot.summary.additional_properties if snapshot.summary else {}
    written = summary.get(ROWS)
    partitions = summary.get(PARTITIONS)
    return Entry(
        committed=utc(snapshot.timestamp_ms),
        snapshot_id=snapshot.snapshot_id,
        operation=snapshot.summary.operation.value if snapshot.summary else "unknown",
        rows_written=int(written) if written is not None else None,
        rows=int(summary.get("total-records") or 0),
        partitions=tuple(partitions.split(",")) if partitions else (),
        run_id=summary.get(RUN_ID),
        load_id=summary.get(LOAD_ID),
        state=state,
    )


def utc(milliseconds: int) -> datetime:
    """A snapshot's time, of milliseconds since 1970."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
