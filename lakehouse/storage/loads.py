"""Which loads a table holds, so that one that comes twice changes nothing.

Each snapshot's summary names its load. Of snapshots that retention drops, the table's properties
keep the loads. What was rolled back or replaced is not held any more.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table import Transaction
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

LOAD_ID = "lakehouse.load-id"
ONCE = "lakehouse.once"  # in the summary of a load that must not come twice
STRATEGY = "lakehouse.strategy"
REPLACE = "replace"
DROPPED_LOADS = "lakehouse.dropped-loads"
# A load is retried within hours, not after a thousand others.
KEEP_LOADS = 1000


def holding(metadata: "TableMetadata", load_id: str) -> "Mapping[str, str] | None":
    """The summary of the snapshot that brought a load, empty if it is dropped; None: the load is not held."""
    for snapshot in ancestors(metadata):
        summary = _summary(snapshot)
        if summary.get(LOAD_ID) == load_id:
            return summary
        if summary.get(STRATEGY) == REPLACE:
            return None
    return {} if load_id in _dropped_loads(metadata) else None


def held_loads(metadata: "TableMetadata") -> set[str]:
    """The ids of all loads that a table holds."""
    loads = set()
    for snapshot in ancestors(metadata):
        summary = _summary(snapshot)
        if LOAD_ID in summary:
            loads.add(summary[LOAD_ID])
        if summary.get(STRATEGY) == REPLACE:
            return loads
    return loads.union(_dropped_loads(metadata))


def remember_loads(transaction: "Transaction", dropped: "Sequence[Snapshot]") -> None:
    """Keep the load ids of snapshots, the oldest first, that the transaction drops.

    One that was rolled back is no ancestor: what it brought is not in the table.
    """
    before = _dropped_loads(transaction.table_metadata)
    held = {snapshot.snapshot_id for snapshot in ancestors(transaction.table_metadata)}
    loads = list(before)
    for snapshot in dropped:
        if snapshot.snapshot_id not in held:
            continue
        summary = _summary(snapshot)
        if summary.get(STRATEGY) == REPLACE:
            loads.clear()
        if ONCE in summary:
            loads.append(summary[LOAD_ID])
    if loads != before:
        transaction.set_properties({DROPPED_LOADS: ",".join(loads[-KEEP_LOADS:])})


def ancestors(metadata: "TableMetadata") -> "Iterator[Snapshot]":
    """The current snapshot and those it was made from, the newest first, as far as they are kept."""
    snapshot = metadata.current_snapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = metadata.snapshot_by_id(parent) if parent is not None else None


def _summary(snapshot: "Snapshot") -> Mapping[str, str]:
    return snapshot.summary.additional_properties if snapshot.summary else {}


def _dropped_loads(metadata: "TableMetadata") -> list[str]:
    return [load for load in metadata.properties.get(DROPPED_LOADS, "").split(",") if load]
