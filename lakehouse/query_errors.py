"""What `lakehouse query` and `lakehouse tables` say when they cannot answer."""

import re
from collections.abc import Iterable

from lakehouse.storage.errors import StorageError

NO_TABLES = "There are no tables yet. Materialize an asset in the UI first (`make dev`)."


class QueryError(StorageError):
    """The query could not be answered. The message is for the user."""

    exit_code = 1


def no_such_table(name: str, there: Iterable[str]) -> QueryError:
    """What to say of a name that none of the tables has."""
    return QueryError(f"There is no table {name}. Tables: {', '.join(there)}.")


class RefusedError(QueryError):
    """The statement is one that this command never runs."""

    exit_code = 2


def plain(error: Exception) -> str:
    """A DuckDB error as one short message, without the SQL it quotes."""
    import duckdb

    text = _without_sql(error)
    if isinstance(error, duckdb.IOException):
        text += (
            "\nA file of a table is missing or damaged: restore it from a backup, or build the table again."
        )
    return text


def unreadable(table: str, error: Exception) -> str:
    """What to say of a table whose files are not as the catalog says."""
    reason = " ".join(_without_sql(error).split())[:300]
    return f"{table} cannot be read ({reason}): restore its files from a backup, or build the table again."


def _without_sql(error: Exception) -> str:
    return re.split(r"\n\s*\n?LINE \d+:", str(error))[0].strip()
