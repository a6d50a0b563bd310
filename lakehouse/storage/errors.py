"""What the write path says when it refuses."""

import errno
import os

FREE_SPACE = "free some space on that disk and run it again"
CHECK_PERMISSIONS = "let this user write there and run it again"
DISK_ADVICE = {
    errno.ENOSPC: FREE_SPACE,
    errno.EDQUOT: FREE_SPACE,
    errno.EFBIG: FREE_SPACE,
    errno.EACCES: CHECK_PERMISSIONS,
    errno.EPERM: CHECK_PERMISSIONS,
    errno.EROFS: CHECK_PERMISSIONS,
}


def reason(error: BaseException) -> str:
    """The sentence of an error, without the SQL that DuckDB quotes below it; of a full disk what to do."""
    text = str(error).split("\n\nLINE ")[0].strip()
    return f"{text}: {advice}." if (advice := disk_advice(text)) else text


def disk_advice(text: str) -> str | None:
    """What to do of what DuckDB says in the disk's own words, at its end; None: it is not about the disk."""
    return next((advice for code, advice in DISK_ADVICE.items() if text.endswith(os.strerror(code))), None)


def disk_reason(error: OSError) -> str:
    """What the disk said, of which file, and what to do."""
    said = error.strerror or str(error)
    where = f" ({error.filename})" if error.filename and str(error.filename) not in said else ""
    number = errno.EACCES if isinstance(error, PermissionError) else error.errno  # PyArrow gives none
    return f"{said}{where}: {DISK_ADVICE.get(number or 0, 'check the disk and its permissions')}."


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


class CatalogError(StorageError):
    """The catalog cannot be asked, or is lost."""


class CommitUnknownError(StorageError):
    """The catalog's answer to a commit was lost, and it does not say now whether it holds it."""
