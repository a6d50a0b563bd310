"""The catalog in a SQLite file.

It runs in WAL mode with a busy timeout, so that readers never wait for writers and parallel
runs wait for each other instead of failing with `database is locked`.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from filelock import FileLock

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.exc import SQLAlchemyError

BUSY_TIMEOUT_SECONDS = 60
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
PRIMARY_CODE = 0xFF  # SQLite's error codes carry details above their lowest byte


@dataclass(frozen=True)
class SqliteDatabase:
    """A file that is there as a whole or not at all."""

    file: Path

    @property
    def label(self) -> str:
        """The file."""
        return str(self.file)

    @cached_property
    def engine(self) -> "Engine":
        """Connections to the file that is there now, never to a new, empty or removed one."""
        from sqlalchemy import create_engine, event
        from sqlalchemy.exc import DisconnectionError
        from sqlalchemy.pool import QueuePool

        engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool, hide_parameters=True)

        @event.listens_for(engine, "connect")
        def remember(connection: sqlite3.Connection, record: Any) -> None:
            record.info["inode"] = self._inode()

        @event.listens_for(engine, "checkout")
        def compare(connection: sqlite3.Connection, record: Any, proxy: Any) -> None:
            if record.info["inode"] != self._inode():
                raise DisconnectionError

        return engine

    def exists(self) -> bool:
        """Whether the file is there."""
        return self.file.exists()

    def create(self, refuse: Callable[[], None]) -> None:
        """Build the file aside and rename it: whoever sees it sees a complete catalog."""
        from pyiceberg.catalog.sql import SqlCatalogBaseTable
        from sqlalchemy import create_engine, text
        from sqlalchemy.pool import StaticPool

        with FileLock(self.file.with_suffix(".lock")):
            if self.exists():
                return
            refuse()
            partial = self.file.with_suffix(".partial")
            partial.unlink(missing_ok=True)
            engine = create_engine(
                "sqlite://", creator=lambda: sqlite3.connect(partial), poolclass=StaticPool
            )
            with engine.connect() as connection:
                connection.execute(text("pragma journal_mode=wal"))
            SqlCatalogBaseTable.metadata.create_all(engine)
            engine.dispose()
            partial.rename(self.file)

    def passes(self, error: "SQLAlchemyError") -> bool:
        """Whether another process holds the file."""
        return self._code(error) in BUSY

    def may_have_committed(self, error: "SQLAlchemyError") -> bool:
        """An input/output error at the commit leaves it open."""
        return getattr(error, "statement", None) is None and self._code(error) == sqlite3.SQLITE_IOERR

    def explain(self, error: "SQLAlchemyError") -> str:
        """By SQLite's own reason."""
        reason = getattr(error, "orig", None) or error
        code = self._code(error)
        if not self.exists():
            return f"The catalog {self.file} is gone: restore it from a backup."
        if code in BUSY:
            return f"The catalog {self.file} is held by another process ({reason}): run it again later."
        if code == sqlite3.SQLITE_FULL:
            return f"The catalog {self.file} cannot grow ({reason}): free some space on its disk."
        if code == sqlite3.SQLITE_READONLY:
            return f"The catalog {self.file} cannot be written ({reason}): check the folder's permissions."
        return (
            f"The catalog {self.file} cannot be read ({reason}): "
            "check its permissions, or restore it from a backup."
        )

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(str(self.file))}?mode=rw",
            uri=True,
            timeout=BUSY_TIMEOUT_SECONDS,
            check_same_thread=False,
        )

    def _inode(self) -> int | None:
        try:
            return self.file.stat().st_ino
        except OSError:
            return None

    @staticmethod
    def _code(error: "SQLAlchemyError") -> int | None:
        code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
        return None if code is None else code & PRIMARY_CODE
