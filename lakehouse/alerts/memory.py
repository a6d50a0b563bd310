"""What was told already, so that a retry is not told again: one small SQLite file that all runs share.

A finding is noted before it is sent: of two runs that find the same at once, one sends.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakehouse.alerts.outcome import Finding, Key, Kind

PATIENCE_SECONDS = 5  # for another run that is noting
KEPT_SECONDS = 30 * 24 * 3600  # what nobody ran again for so long is news

MAKE = """
create table if not exists told (
    "table" text, subject text, partition text, rows integer, at real,
    primary key ("table", subject, partition)
) without rowid
"""
OF_KEY = '"table" = ? and subject = ? and partition = ?'


@dataclass(frozen=True)
class Memory:
    """The findings that were told.

    Args:
        repeat_seconds: after how long the same finding is told again.
    """

    file: Path
    repeat_seconds: float

    def claim(self, findings: Sequence[Finding], *, adding: frozenset[str], now: float) -> list[Finding]:
        """Note findings as told; returns those that were not.

        Rows in quarantine are told when they are more than they were, however long ago that was, but of
        a table whose loads add to it each load's are its own.

        Args:
            adding: those tables.

        Raises:
            sqlite3.Error: the file cannot be written.
            OSError: likewise.
        """
        with self._open() as told:
            told.execute("delete from told where at < ?", [now - max(KEPT_SECONDS, self.repeat_seconds)])
            return [one for one in findings if self._is_news(told, one, adding, now)]

    def forget(self, keys: Iterable[Key]) -> None:
        """Let these be told again: they are mended, or nobody took the message.

        Raises:
            sqlite3.Error: the file cannot be written.
            OSError: likewise.
        """
        if not self.file.exists():
            return
        with self._open() as told:
            told.executemany(f"delete from told where {OF_KEY}", list(keys))

    def _is_news(
        self, told: sqlite3.Connection, finding: Finding, adding: frozenset[str], now: float
    ) -> bool:
        known = told.execute(f"select rows, at from told where {OF_KEY}", finding.key).fetchone()
        recent = known is not None and known[1] > now - self.repeat_seconds
        if known is None:
            news = True
        elif finding.kind == Kind.QUARANTINE and finding.table not in adding:
            news = finding.rows > known[0]
        else:
            news = not recent
        told.execute(
            "insert or replace into told values (?, ?, ?, ?, ?)",
            [*finding.key, finding.rows, now if news or not recent else known[1]],
        )
        return news

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other run interleaves with."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.file, timeout=PATIENCE_SECONDS, isolation_level=None)
        with closing(connection):
            connection.execute("begin immediate")
            connection.execute(MAKE)
            yield connection
            connection.execute("commit")
