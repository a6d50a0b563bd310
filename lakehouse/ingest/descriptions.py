"""What is said of an error that ended a load, or the load of one partition."""

from lakehouse.ingest.errors import SourceError
from lakehouse.storage.errors import StorageError, disk_reason, reason

WRITTEN_FOR_USERS = (SourceError, StorageError)


def about(table: str, said: str) -> str:
    """What is said of a load, with the table's name unless it begins with that already."""
    return said if said.startswith(table) else f"{table}: {said}"


def describe(error: BaseException) -> str:
    """An error's message; its type too where the message was not written for the user."""
    import duckdb
    from dlt.common.destination.exceptions import DestinationTerminalException

    if isinstance(error, (*WRITTEN_FOR_USERS, DestinationTerminalException, duckdb.Error)):
        return reason(error)
    if isinstance(error, OSError):
        return disk_reason(error)
    return f"{type(error).__name__}: {reason(error)}"
