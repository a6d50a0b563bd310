"""The backlog of a table: rows in quarantine that can be loaded again from what was kept of them.

A replay marks the rows that it takes up with its load id before it publishes any. If it dies, the mark
and the loads that the table holds tell whether they were published, and so no row counts twice. What was
set aside by a load that the table does not hold is no part of it: the source gives those rows again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.quality.quarantine import ROW, Quarantine
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.loads import held_loads
from lakehouse.storage.marking import mark_rows
from lakehouse.storage.removal import remove_rows
from lakehouse.storage.scan import scan
from lakehouse.storage.sql import literal
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from collections.abc import Collection

    from duckdb import DuckDBPyConnection

REPLAY_ID = "replay_id"  # the column that says which replay has taken a row up
WHOLE = f"scope = {literal(ROW)}"
# What was kept of a line that could not be read is no row.
KEPT = "(rule <> 'unreadable' and coalesce(json_type(try_cast(raw as json)) = 'OBJECT', false))"


@dataclass(frozen=True)
class Backlog:
    """The rows of one table that a replay may take up.

    Args:
        quarantine: the table's, its load the replay.
        connection: a DuckDB connection.
    """

    quarantine: Quarantine
    connection: "DuckDBPyConnection"

    def settle(self) -> None:
        """Take out what replays have published, and what those set aside that published nothing.

        Raises:
            StorageError, duckdb.Error: quarantine is as it was, or settled in part.
        """
        replays = self._distinct(REPLAY_ID)
        held = self._held()
        self._remove(REPLAY_ID, [replay for replay in replays if replay in held])
        self._remove("load_id", [replay for replay in replays if replay not in held])

    def take_up(self) -> int:
        """Mark every row of the backlog as taken up by this replay; returns how many there are.

        Raises:
            StorageError, duckdb.Error: none is marked.
        """
        rows = f"{WHOLE} and {KEPT} and {self._of_held_loads()}"
        found = self._count(rows)
        if found:
            quarantine = self.quarantine
            replay, summary = quarantine.load_id, {RUN_ID: quarantine.run_id}
            mark_rows(quarantine.catalog, quarantine.spec, self.connection, REPLAY_ID, replay, rows, summary)
        return found

    def taken_up(self) -> str:
        """The query of the rows that this replay has taken up."""
        return f"select * from ({self._relation()}) where {REPLAY_ID} = {literal(self.quarantine.load_id)}"

    def left_out(self) -> Iterator[str]:
        """What of quarantine is no part of the backlog, in sentences that say what to do."""
        table = self.quarantine.table
        if unreadable := self._count(f"{WHOLE} and not {KEPT}"):
            yield (
                f"{unreadable} in quarantine could not be read, and what was kept is no row: have the source "
                "send them again."
            )
        if unheld := self._count(f"{WHOLE} and {KEPT} and not {self._of_held_loads()}"):
            yield (
                f"{unheld} in quarantine are of loads that {table} does not hold, since they failed, were "
                f"rolled back or go on still: load {table} again, which brings them again."
            )
        if values := self._count(f"not ({WHOLE})"):
            yield (
                f"{values} in quarantine are single values of rows that are in {table}, with null in their "
                "place."
            )

    def _of_held_loads(self) -> str:
        held = self._held()
        loads = [load for load in self._distinct("load_id") if load in held]
        return f"load_id in ({', '.join(map(literal, loads))})" if loads else "false"

    def _held(self) -> "Collection[str]":
        table = load_table(self.quarantine.catalog, self.quarantine.table)
        return held_loads(table.metadata) if table else ()

    def _remove(self, column: str, loads: list[str]) -> None:
        if loads:
            quarantine = self.quarantine
            gone = f"{column} in ({', '.join(map(literal, loads))})"
            summary = {RUN_ID: quarantine.run_id}
            remove_rows(quarantine.catalog, quarantine.spec, self.connection, gone, summary)

    def _distinct(self, column: str) -> list[str]:
        values = self.connection.execute(
            f"select distinct {column} from ({self._relation()}) where {column} is not null order by 1"
        ).fetchall()
        return [value for (value,) in values]

    def _count(self, condition: str) -> int:
        [(count,)] = self.connection.execute(
            f"select count(*) from ({self._relation()}) where {condition}"
        ).fetchall()
        return int(count)

    def _relation(self) -> str:
        """What is in quarantine now; before a first replay nothing has been taken up."""
        table = load_table(self.quarantine.catalog, self.quarantine.spec.name)
        none = f"null::varchar as {REPLAY_ID}"
        if table is None:
            return f"select 'row' as scope, '' as rule, '' as raw, '' as load_id, {none} where false"
        rows = scan(table.metadata_location, table.metadata.current_snapshot_id)
        return rows if REPLAY_ID in table.schema().column_names else f"select *, {none} from ({rows})"
