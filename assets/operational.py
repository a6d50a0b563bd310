"""The operational database: reference tables, each read as a whole."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import Extraction

# Of one database, whose owners would notice many readers at once.
POOL = "operational_database"


def read_table(extraction: Extraction) -> Iterator[Any]:
    """Read the database's table of the same name as the Bronze table.

    Raises:
        SourceError: there is no such database.
    """
    from dlt.sources.sql_database import sql_table

    # Minimal: the contract says the types, so dlt need not read them from the database.
    yield from sql_table(
        f"sqlite:///{_database(extraction)}",
        table=extraction.source.table,
        backend="pyarrow",
        reflection_level="minimal",
    )


def count_rows(extraction: Extraction) -> int:
    """How many rows the database itself says the table has.

    Raises:
        SourceError: there is no such database.
    """
    with closing(sqlite3.connect(_database(extraction))) as connection:
        [(rows,)] = connection.execute(f'select count(*) from "{extraction.source.table}"')
    return int(rows)


def _database(extraction: Extraction) -> Path:
    database = extraction.settings.source_dir / "operational.db"
    if not database.exists():  # SQLite would make an empty one
        raise SourceError(f"{database} does not exist. Run `make demo` to write the demo's sources.")
    return database
