"""What every reader of files owes: names that a person knows, no row of another day, no silent emptiness."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.source import LOAD_COLUMNS, Extraction
from lakehouse.storage.staging import StagedFile, discard


def shown_path(extraction: Extraction, file: Path) -> Path:
    """The file as messages and `_source_file` name it: below the source folder if it is there."""
    folder = extraction.settings.source_dir
    return file.relative_to(folder) if file.is_relative_to(folder) else file


def refuse_missing(file: Path) -> SourceError:
    """The error of a file that is not there."""
    return SourceError(f"{file} does not exist. Has the source delivered it?")


def refuse_added(names: Iterable[str], computed: Iterable[str], shown: Path) -> None:
    """Refuse a file that has a column which reading it adds: one of the two would be lost.

    Raises:
        SourceError: it has one.
    """
    added = {*computed, *(column.name for column in LOAD_COLUMNS)}
    if both := [name for name in names if name.lower() in added]:
        raise SourceError(
            f"{shown} has the column {both[0]}, which is added when a file is read. Compute it under another "
            "name, or have the source rename it."
        )


def refuse_empty(extraction: Extraction, files: Sequence[StagedFile], shown: Path, what: str) -> None:
    """Refuse a file without rows, unless the source may have none.

    Args:
        what: what a file without rows is, in words.

    Raises:
        SourceError: there are none.
    """
    if not files and not extraction.source.may_be_empty:
        raise SourceError(
            f"{shown} {what}. If a source may rightly have none, declare it with may_be_empty=True."
        )


def refuse_strays(
    extraction: Extraction, files: Sequence[StagedFile], shown: Path, sorting: Callable[[], Fitting]
) -> None:
    """Refuse rows of another day: they would be counted there too, or overwrite what that day had.

    Args:
        sorting: what finds the first of them in the file.

    Raises:
        SourceError: nothing stays written.
    """
    if extraction.partition is None:
        return
    strays = [landed for landed in files if landed.partition != extraction.partition]
    if strays:
        discard(files)
        where, other = sorting().first_of_another(extraction.partition)
        raise SourceError(
            f"{shown} holds rows that are not of {extraction.partition}: "
            f"{sum(landed.rows for landed in strays):,}, the first at {where}, column "
            f"{extraction.source.partition_by}: {other}."
        )
