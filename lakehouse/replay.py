"""`lakehouse quarantine replay`: load again what rows are missing from, and say what became of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.catalog import open_catalog
from lakehouse.quarantined import COLUMNS, Held, held_in_quarantine, open_quarantine
from lakehouse.query import ANSWER
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from lakehouse.settings import Settings

OUTCOME_HEADER = ("partition", "rows before", "rows now", "quarantined before", "quarantined now")
SHOWN_REASONS = 3  # of what is still in quarantine


@dataclass(frozen=True)
class Outcome:
    """What became of one partition, or of a table without partitions.

    Args:
        rows: of the table, before and after.
        aside: rows and values in quarantine, before and after.
    """

    partition: str | None
    rows: tuple[int, int]
    aside: tuple[int, int]

    def cells(self) -> tuple[str, ...]:
        """The line of it that a person reads."""
        return (self.partition or "-", *(f"{count:,}" for count in (*self.rows, *self.aside)))


@dataclass(frozen=True)
class Replayed:
    """What a replay came to.

    Args:
        outcomes: what became of each partition, or of the table; empty if nothing was in quarantine.
        failures: why runs failed.
        notes: what else is to be said, such as what no replay takes up.
    """

    outcomes: list[Outcome]
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def left(self) -> bool:
        """Whether anything is still in quarantine."""
        return any(outcome.aside[1] for outcome in self.outcomes)


def replay(settings: "Settings", table: str, partition: str | None = None) -> Replayed:
    """Load again what quarantine holds of a table: from its source, or from quarantine if that only adds.

    Raises:
        ReplayError: the table cannot be built so.
    """
    before = _held(settings, table, partition)
    if not before:
        return Replayed([])
    from lakehouse.orchestration.replay import rebuild

    rows = _rows(settings, table)
    rebuilt = rebuild(settings, table, list(before))
    after, rows_now = _held(settings, table, partition), _rows(settings, table)
    outcomes = [
        Outcome(
            part,
            (rows.get(part, 0), rows_now.get(part, 0)),
            (_count(before.get(part)), _count(after.get(part))),
        )
        for part in before
    ]
    notes: list[str] = []
    if rebuilt.from_quarantine:
        left = sum(held.rows for held in before.values()) - sum(held.rows for held in after.values())
        notes = [f"{left:,} rows went from quarantine to {table}.", *_left_out(settings, table)]
    return Replayed(outcomes, rebuilt.failures, notes)


def still_there(settings: "Settings", table: str, partition: str | None) -> Iterator[str]:
    """Of what is still in quarantine the first few, each with where it came from and the reason."""
    day = date.fromisoformat(partition) if partition else None
    connection, total = open_quarantine(settings, table, day, None, SHOWN_REASONS, unmasked=False)
    for values in connection.execute(
        f"select {', '.join(f'cast({name} as varchar)' for name in COLUMNS)} from {ANSWER}"
    ).fetchall():
        row = dict(zip(COLUMNS, values, strict=True))
        where = ", row ".join(filter(None, (row["source_file"], row["source_row"])))
        yield ": ".join(filter(None, (row["partition"], where, row["rule"], row["reason"])))
    if total > SHOWN_REASONS:
        yield f"and {total - SHOWN_REASONS} more: `lakehouse quarantine show {table}`"


def _left_out(settings: "Settings", table: str) -> list[str]:
    """What of quarantine no replay takes up, and what to do with it."""
    from lakehouse.quality.backlog import Backlog
    from lakehouse.quality.quarantine import Quarantine
    from lakehouse.storage import duckdb_session

    connection = duckdb_session.connect(settings)
    try:
        quarantine = Quarantine(open_catalog(settings), table, "", "", settings.keep_snapshots)
        return [*Backlog(quarantine, connection).left_out()]
    finally:
        connection.close()


def _held(settings: "Settings", table: str, partition: str | None) -> dict[str | None, Held]:
    held = held_in_quarantine(settings, table)
    return {each.partition: each for each in held if partition is None or each.partition == partition}


def _count(held: Held | None) -> int:
    return held.rows + held.values if held else 0


def _rows(settings: "Settings", table: str) -> dict[str | None, int]:
    """Rows of each partition of a table, and (None) of all of it, from metadata alone."""
    from lakehouse.quality.gates import rows_by_partition

    loaded = load_table(open_catalog(settings), table)
    snapshot = loaded.current_snapshot() if loaded else None
    summary = snapshot.summary.additional_properties if snapshot and snapshot.summary else {}
    whole: dict[str | None, int] = {None: int(summary.get("total-records", 0))}
    return whole | {day.isoformat(): rows for day, rows in rows_by_partition(loaded).items()}
