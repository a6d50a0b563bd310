"""What the write path says when it refuses."""


class StorageError(Exception):
    """A write or read was refused; the table is as it was. The message is for the user."""


class UnsupportedTypeError(StorageError):
    """A column's type has no lossless counterpart in Iceberg."""


class SchemaConflictError(StorageError):
    """New rows do not fit the table's schema without loss."""


class PartitionMismatchError(StorageError):
    """Rows belong to no partition, or to one that the write does not cover."""


class CommitConflictError(StorageError):
    """Other writers kept winning until the retries ended."""
