"""Setting a table, or it and what was built from it, back to what they were: planned first, then done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from lakehouse.catalog import open_catalog
from lakehouse.profile_again import profile_again
from lakehouse.quality.restore import restore_quarantine
from lakehouse.query_errors import QueryError
from lakehouse.storage.errors import StorageError
from lakehouse.storage.history import began_after, snapshot_as_of, time_text
from lakehouse.storage.point import named, time_said
from lakehouse.storage.rollback import Rollback, left_at, plan_rollback, roll_back
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings

ROLLBACK_HEADER = ("table", "snapshot now", "set back to", "rows now", "rows then", "partitions that change")
SHOWN = 3  # partitions of a table, and then how many there are


@dataclass(frozen=True)
class Plan:
    """What a rollback comes to, before it is done.

    Args:
        tables: those that change, each after all that are built from it.
        moment: as of when all of them will be, in UTC.
        notes: what else is to be said.
    """

    tables: list[Rollback]
    moment: datetime
    notes: list[str] = field(default_factory=list)


def plan(settings: "Settings", table: str, to: str, downstream: Sequence[str] = ()) -> Plan:
    """What setting a table back changes, and (downstream) those built from it to what they were then.

    Args:
        to: a snapshot of the table, a branch or tag, or a time.
        downstream: tables to set back with it, each after those that it is built from.

    Raises:
        QueryError: there is no such table.
        StorageError: a table's history does not go back so far.
    """
    catalog = open_catalog(settings)
    loaded = load_table(catalog, table)
    if loaded is None:
        raise QueryError(f"There is no table {table}: `lakehouse tables` lists those that there are.")
    snapshot_id = named(loaded, to, table).snapshot_id
    own = plan_rollback(loaded, table, snapshot_id)
    moment = time_said(to) or left_at(loaded, table, snapshot_id)
    found = [_as_of(catalog, name, moment) for name in reversed(downstream)]
    planned = [each for each in (*found, own) if each is not None]
    return Plan(planned, moment, [*_notes(planned)])


def carry_out(settings: "Settings", planned: Plan, by: str) -> Iterator[Rollback]:
    """Do what was planned, table by table, what is built from others first; yields each when it is done.

    What quarantine lost since then is put back before its table is. Done again, it goes on where it ended.

    Raises:
        CommitConflictError: a table has changed meanwhile; it and those after it are as they were.
        StorageError: a table could not be written.
    """
    from lakehouse.storage import duckdb_session

    catalog = open_catalog(settings)
    connection = duckdb_session.connect(settings)
    try:
        for each in planned.tables:
            try:
                restore_quarantine(catalog, connection, each.table, planned.moment, settings.keep_snapshots)
            except StorageError as error:
                planned.notes.append(f"Quarantine stays as it is: {error}")
            roll_back(catalog, each, by)
            planned.notes.extend(profile_again(settings, catalog, each.table, each.partitions, "rollback"))
            yield each
    finally:
        connection.close()


def rollback_cells(each: Rollback) -> tuple[str, ...]:
    """The line of it that a person reads."""
    days = [day.isoformat() for day in each.partitions]
    shown = ", ".join(days[:SHOWN]) + (f" … ({len(days)})" if len(days) > SHOWN else "")
    return (
        each.table,
        str(each.now),
        str(each.to or "no rows"),
        *(f"{rows:,}" for rows in each.rows),
        shown,
    )


def _as_of(catalog: "Catalog", name: str, moment: datetime) -> Rollback | None:
    table = load_table(catalog, name)
    if table is None:
        return None
    then = None if began_after(table, moment) else snapshot_as_of(table, moment, name)
    return plan_rollback(table, name, then)


def _notes(planned: Sequence[Rollback]) -> Iterator[str]:
    for each in planned:
        if each.to is None:
            yield f"{each.table} did not exist yet and will have no rows."
    for each in planned:
        yield f"To undo it: `lakehouse rollback {each.table} --to {each.now}`."


def moment_text(planned: Plan) -> str:
    """As of when the tables will be."""
    return f"as of {time_text(planned.moment)} UTC"
