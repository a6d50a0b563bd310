"""What `lakehouse history` shows of a table."""

from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.query_errors import NO_TABLES, QueryError, no_such_table, unreadable
from lakehouse.storage.errors import CatalogError
from lakehouse.storage.history import Entry, read_history, time_text

if TYPE_CHECKING:
    from lakehouse.settings import Settings

HISTORY_HEADER = (
    "committed (UTC)",
    "snapshot",
    "state",
    "operation",
    "rows written",
    "rows",
    "run",
    "partitions",
)
SHOWN_RUN = 8  # as many characters of a run's id as Dagster shows


def read_table_history(settings: "Settings", name: str) -> list[Entry]:
    """The snapshots of a table, the newest first.

    Raises:
        QueryError: there is no such table, or it cannot be read.
    """
    known = metadata_locations(settings)
    if not known:
        raise QueryError(NO_TABLES)
    if name.lower() not in known:
        raise no_such_table(name, (there for there, _ in known.values()))
    table, _ = known[name.lower()]
    try:
        return read_history(open_catalog(settings).load_table(table))
    except CatalogError:
        raise
    except Exception as error:  # a file that is gone, damaged or forbidden: each IO has its own errors
        raise QueryError(unreadable(table, error)) from error


def history_cells(entry: Entry) -> tuple[str, ...]:
    """The line of a snapshot that a person reads."""
    written = "" if entry.rows_written is None else f"{entry.rows_written:,}"
    return (
        time_text(entry.committed),
        str(entry.snapshot_id),
        entry.state,
        entry.operation,
        written,
        f"{entry.rows:,}",
        (entry.run_id or "")[:SHOWN_RUN],
        _partitions(entry.partitions),
    )


def _partitions(partitions: tuple[str, ...]) -> str:
    if len(partitions) <= 1:
        return "".join(partitions)
    return f"{partitions[0]} … {partitions[-1]} ({len(partitions)})"
