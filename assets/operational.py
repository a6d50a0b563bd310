"""The operational database: reference tables, each read as a whole."""

from collections.abc import Iterator
from typing import Any

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import Extraction

# Of one database, whose owners would notice many readers at once.
POOL = "operational_database"


def read_table(extraction: Extraction) -> Iterator[Any]:
    """Read the database's table of the same name as the Bronze table.

    Raises:
        SourceError: there is no such database; SQLite would make an empty one.
    """
    from dlt.sources.sql_database import sql_table

    database = extraction.settings.source_dir / "operational.db"
    if not database.exists():
        raise SourceError(f"{database} does not exist. Run `make demo` to write the demo's sources.")
    # Minimal: the contract says the types, so dlt need not read them from the database.
    yield from sql_table(
        f"sqlite:///{database}",
        table=extraction.source.table,
        backend="pyarrow",
        reflection_level="minimal",
    )
