"""The catalog in a Postgres database."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import SecretStr

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine
    from sqlalchemy.exc import SQLAlchemyError

SCHEMES = ("postgresql", "postgres", "postgresql+psycopg2")
SETTING = "LAKEHOUSE_CATALOG_URI"
CREATION_LOCK = 0x6C616B65  # "lake": any number that no one else uses

# A process asks little, and there may be many of them: idle it keeps one connection.
POOL = {"pool_size": 1, "max_overflow": 9, "pool_recycle": 300, "pool_pre_ping": True}
# A server that vanished without a word must not hold a run for hours, nor a run that did the others.
CONNECTION = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "application_name": "lakehouse",
    "options": "-c lock_timeout=30s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s",
}

# SQLSTATE classes and codes of what passes by itself.
PASSING = (
    "08",  # the connection broke
    "40",  # serialization failure, deadlock
    "53300",  # too many connections
    "55P03",  # waited too long for a lock
    "57014",  # ran too long
    "57P",  # the server stops, crashed or is just starting
    "25P03",  # the session was idle in a transaction for too long
)
# A connection that is refused has no code, only words.
LASTING_REFUSALS = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "could not translate host name",
    "permission denied",
    "is not permitted to log in",
    "certificate",
    "SSL",
)


@dataclass(frozen=True)
class PostgresDatabase:
    """A database by its URI, whose password no message shows."""

    uri: SecretStr

    @property
    def label(self) -> str:
        """The database and its server."""
        url = _url(self.uri.get_secret_value())
        host = url.host or url.query.get("host") or "localhost"
        return f"{url.database or url.username} on {host}{f':{url.port}' if url.port else ''}"

    @property
    def engine(self) -> "Engine":
        """This process's connections; those of a parent process are the parent's."""
        return _engine(self.uri.get_secret_value(), os.getpid())

    def exists(self) -> bool:
        """Whether both tables are there."""
        from pyiceberg.catalog.sql import SqlCatalogBaseTable
        from sqlalchemy import inspect

        inspector = inspect(self.engine)
        return all(inspector.has_table(name) for name in SqlCatalogBaseTable.metadata.tables)

    def create(self, refuse: Callable[[], None]) -> None:
        """Create the tables under a lock of the whole database."""
        from pyiceberg.catalog.sql import SqlCatalogBaseTable
        from sqlalchemy import text

        with self.engine.begin() as connection:
            connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": CREATION_LOCK})
            if not self.exists():
                refuse()
                SqlCatalogBaseTable.metadata.create_all(connection)

    def passes(self, error: "SQLAlchemyError") -> bool:
        """By its code, or where it has none by its words."""
        from sqlalchemy.exc import InterfaceError, OperationalError
        from sqlalchemy.exc import TimeoutError as PoolTimeoutError

        if code := _code(error):
            return code.startswith(PASSING)
        if isinstance(error, PoolTimeoutError):
            return True
        words = str(getattr(error, "orig", None))
        return isinstance(error, OperationalError | InterfaceError) and not any(
            refusal in words for refusal in LASTING_REFUSALS
        )

    def may_have_committed(self, error: "SQLAlchemyError") -> bool:
        """Whether the connection broke at the commit itself, which is no statement."""
        return getattr(error, "statement", None) is None and bool(
            getattr(error, "connection_invalidated", False)
        )

    def explain(self, error: "SQLAlchemyError") -> str:
        """By what the server or the driver said."""
        from sqlalchemy.exc import ProgrammingError

        reason = self._masked(" ".join(str(getattr(error, "orig", None) or error).split()))
        if isinstance(error, ProgrammingError):
            return (
                f"The catalog {self.label} cannot be used ({reason}): check that {SETTING} names the right "
                "database and that its user may read and write there, or restore it from a backup."
            )
        if self.passes(error):
            return (
                f"The catalog {self.label} does not answer ({reason}): check that the server runs and that "
                f"{SETTING} names it, then run it again."
            )
        return f"The catalog {self.label} cannot be opened ({reason}): correct {SETTING}, or the server."

    def _masked(self, text: str) -> str:
        password = _url(self.uri.get_secret_value()).password
        return text.replace(str(password), "***") if password else text


def refusal_of(uri: str) -> str | None:
    """Why a URI is none of a Postgres database, without repeating it; None if it is one."""
    from sqlalchemy.exc import ArgumentError

    example = "postgresql://user:password@host:5432/database"
    try:
        url = _url(uri)
    except (ArgumentError, ValueError):
        return f"this is no address such as {example}"
    if url.drivername not in SCHEMES:
        return f"only Postgres can hold the catalog, with an address such as {example}"
    return None


@lru_cache(maxsize=1)  # the connections to another one are closed
def _engine(uri: str, process: int) -> "Engine":
    """One pool of connections a process, however often the catalog is opened."""
    from sqlalchemy import create_engine

    url = _url(uri).set(drivername="postgresql+psycopg2")
    arguments = {name: value for name, value in CONNECTION.items() if name not in url.query}
    return create_engine(url, connect_args=arguments, hide_parameters=True, **POOL)


def _url(uri: str) -> "URL":
    from sqlalchemy import make_url

    return make_url(uri)


def _code(error: "SQLAlchemyError") -> str | None:
    return getattr(getattr(error, "orig", None), "pgcode", None)
