"""What ingestion says when a source cannot be loaded."""

from lakehouse.quality.check_result import Results


class SourceError(Exception):
    """A source gave nothing or something unreadable: which file or table, where, and what to do."""


class LoadError(Exception):
    """A load as a whole failed; the Bronze table is as it was.

    Args:
        checks: what the contract's checks had come to.
    """

    def __init__(self, message: str, checks: Results | None = None) -> None:
        super().__init__(message)
        self.checks: Results = checks or {}
