"""A point in a table's history, as a person names it: a snapshot, a branch or tag, or a time."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lakehouse.storage.errors import StorageError
from lakehouse.storage.history import snapshot_as_of

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

SNAPSHOT_ID_DIGITS = 9  # 20130501 is a day


def current(table: "Table", name: str) -> "Snapshot":
    """The snapshot that readers find.

    Raises:
        StorageError: nothing was ever written.
    """
    snapshot = table.current_snapshot()
    if snapshot is None:
        raise StorageError(f"{name} is empty: nothing was written to it yet.")
    return snapshot


def parent(table: "Table", snapshot: "Snapshot", name: str) -> "Snapshot":
    """The snapshot that another was made from.

    Raises:
        StorageError: there is none, or the history does not go back so far.
    """
    if snapshot.parent_snapshot_id is None:
        raise StorageError(
            f"Snapshot {snapshot.snapshot_id} is the first of {name}: there is none before it to compare "
            "with."
        )
    before = table.snapshot_by_id(snapshot.parent_snapshot_id)
    if before is None:
        raise StorageError(
            f"The snapshot of {name} before {snapshot.snapshot_id} is no longer kept: name one that "
            f"`lakehouse history {name}` lists with --from."
        )
    return before


def named(table: "Table", said: str, name: str) -> "Snapshot":
    """The snapshot that a person names: by a branch or tag, its id, or a time at which it was current.

    Args:
        name: the table's.

    Raises:
        StorageError: there is none of this name, or the history does not go back so far.
    """
    if said in table.metadata.refs:
        found = table.snapshot_by_id(table.metadata.refs[said].snapshot_id)
    elif said.isdecimal() and len(said) >= SNAPSHOT_ID_DIGITS:
        found = table.snapshot_by_id(int(said))
    else:
        found = _at(table, said, name)
    if found is None:
        raise StorageError(f"{name} has no snapshot {said}: `lakehouse history {name}` lists those it has.")
    return found


def time_said(said: str) -> datetime | None:
    """The time that a person says, in UTC where it names no zone; None: it is no time."""
    if said.isdecimal() and len(said) >= SNAPSHOT_ID_DIGITS:
        return None
    try:
        moment = datetime.fromisoformat(said.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _at(table: "Table", said: str, name: str) -> "Snapshot | None":
    moment = time_said(said)
    if moment is None:
        refs = ", ".join(sorted(table.metadata.refs)) or "none"
        raise StorageError(
            f"{said!r} is no snapshot, branch or tag of {name}, and no time such as 2013-05-01 or "
            f"'2013-05-01 23:30:00.250'. Branches and tags: {refs}."
        )
    return table.snapshot_by_id(snapshot_as_of(table, moment, name))
