"""What the write path says when it refuses."""


def reason(error: BaseException) -> str:
    """The sentence of an error, without the SQL that DuckDB quotes below it."""
    return str(error).split("\n\nLINE ")[0].strip()


class StorageError(Exception):
    """A write or read was refused; the table is as it was. The message is for the user."""


class UnsupportedTypeError(StorageError):
    """A column's type has no lossless counterpart in Iceberg."""


class SchemaConflictError(StorageError):
    """New rows do not fit the table's schema without loss."""


class PartitionMismatchError(StorageError):
    """Rows belong to no partition, or to one that the write does not cover."""


class MissingKeyError(StorageError):
    """Rows to be merged by key lack it."""


class CommitConflictError(StorageError):
    """Other writers kept winning until the retries ended."""
