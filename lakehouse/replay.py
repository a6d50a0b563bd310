"""`lakehouse quarantine replay`: build again what rows are missing from, and say what became of them."""

from collections.abc import Iterator
from dataclasses import dataclass
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


def replay(settings: "Settings", table: str, partition: str | None = None) -> tuple[list[Outcome], list[str]]:
    """Build again the partitions of a table that have something in quarantine.

    Returns: what became of each; and why runs failed.

    Raises:
        ReplayError: the table cannot be built so.
    """
    before = _held(settings, table, partition)
    if not before:
        return [], []
    from lakehouse.orchestration.replay import rebuild

    rows = _rows(settings, table)
    failures = rebuild(settings, table, list(before))
    after, rows_now = _held(settings, table, partition), _rows(settings, table)
    outcomes = [
        Outcome(
            part,
            (rows.get(part, 0), rows_now.get(part, 0)),
            (_count(before.get(part)), _count(after.get(part))),
        )
        for part in before
    ]
    return outcomes, failures


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


def left_out(settings: "Settings", table: str) -> list[str]:
    """Of what is still in quarantine of a table that is added to, what no replay takes up, and what to do.

    Empty for other tables: their replay takes their rows from the source.
    """
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
