"""A lock that one process holds at a time, and that ends with the process however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakehouse.storage.errors import StorageError


@contextmanager
def exclusive(file: Path, busy: str) -> Iterator[None]:
    """Hold the lock of a file, which stays.

    Args:
        busy: what is said if another holds it.

    Raises:
        StorageError: another holds it.
    """
    import fcntl

    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(busy) from None
        yield
