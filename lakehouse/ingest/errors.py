"""What ingestion says when a source cannot be loaded."""


class SourceError(Exception):
    """A source gave nothing or something unreadable: which file or table, where, and what to do."""


class LoadError(Exception):
    """A load as a whole failed; the Bronze table is as it was."""
