"""CSV files to Parquet, read strictly: a file that is not what was declared is refused by name.

DuckDB reads and writes; dlt imports the Parquet files as they are.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lakehouse.ingest.arrivals import note_arrivals
from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_end import OpenEnd, judge_end
from lakehouse.ingest.csv_reading import CsvReading
from lakehouse.ingest.encoding import refuse_other_encodings
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.files import refuse_added, refuse_empty, refuse_missing, refuse_strays, shown_path
from lakehouse.ingest.incoming import Brought, Columns, Incoming, normalized
from lakehouse.ingest.landing import hand_over
from lakehouse.ingest.source import Extraction
from lakehouse.storage.staging import discarded_on_error

DELIMITERS = ",;\t|"  # that files are written with
SHOWN_TEXT = 200  # characters of a header


def read_csv(
    extraction: Extraction,
    file: Path,
    *,
    null_value: str = "",
    delimiter: str = ",",
    computed: Mapping[str, str] | None = None,
    open_end: OpenEnd = "warn",
) -> Iterator[Any]:
    """Read one file and hand it to dlt as Parquet with the declared types.

    Args:
        file: the CSV file, in UTF-8, with a header.
        null_value: how the file writes a missing value.
        delimiter: the character that separates its values.
        computed: SQL expressions of declared columns that the file does not have.
        open_end: what a last line without a line end is, which may have lost the end of its last value: a
            warning, a reason to refuse the file, or as it should be.

    Raises:
        SourceError: the file is missing, empty (of a source that may have no rows, only without a
            header), lacks a column, holds a value that is not of its column's type (unless the schema
            mode is to set it aside), a row of another partition, or ends where that is to be refused.
    """
    shown = shown_path(extraction, file)
    computed = dict(computed or {})
    header = _read_header(file, shown, delimiter)
    columns = _file_columns(extraction, header, set(computed), shown, delimiter)
    aside = extraction.quarantined.rows.get(extraction.partition, 0)
    reading = CsvReading(extraction, file, shown, null_value, delimiter, columns, computed)
    files = reading.land()
    if extraction.quarantined.rows.get(extraction.partition, 0) == aside:
        refuse_empty(extraction, files, shown, "has a header but no rows")
    refuse_strays(extraction, files, shown, reading.sorting)
    with discarded_on_error(files):
        judge_end(extraction, file, shown, delimiter, columns, open_end)
    note_arrivals(extraction, columns, computed, typed=False)
    undeclared = [column for column in columns if not column.declared and column.unwanted is None]
    yield from hand_over(extraction, files, [Column(column.name, "varchar") for column in undeclared])


def _read_header(file: Path, shown: Path, delimiter: str) -> list[str]:
    """The column names of the first line."""
    try:
        refuse_other_encodings(file, shown)
        # What is not UTF-8 below the header is DuckDB's to refuse, with its line.
        with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            header = next(csv.reader(lines, delimiter=delimiter), [])
    except FileNotFoundError:
        raise refuse_missing(file) from None
    if not header:
        raise SourceError(f"{shown} is empty: not even a header.")
    for number, name in enumerate(header, start=1):
        raw = name.encode("utf-8", "surrogateescape")
        if raw != name.encode("utf-8", "replace"):
            raise SourceError(
                f"{shown} is not UTF-8: line 1, column {number}, is named {raw!r}. Convert the file, for "
                "instance with `iconv -f latin1 -t utf-8`."
            )
    return header


def _file_columns(
    extraction: Extraction, header: list[str], computed: set[str], shown: Path, delimiter: str
) -> list[Incoming]:
    """The columns in the file's order; one that nobody declared is read as text."""
    import duckdb

    source = extraction.source
    wanted = [column for column in source.columns if column.name not in computed]
    _refuse_lacking(wanted, header, shown, delimiter)
    names = [name.lower() for name in header]  # DuckDB takes names that differ by case for one
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise SourceError(f"{shown} has the column {duplicates[0]!r} twice.")
    refuse_added(header, computed, shown)
    if "" in header:
        raise SourceError(f"{shown} has a column without a name, the {header.index('') + 1}. of its header.")
    if unseen := next((name for name in header if not name.isprintable()), None):
        raise SourceError(f"{shown} has a column whose name holds what is no text: {unseen!r}.")
    brought = [Brought(name, duckdb.type("varchar"), "varchar") for name in header]
    return Columns(source, str(shown), extraction.held).match(brought, computed)


def _refuse_lacking(wanted: Sequence[Column], header: list[str], shown: Path, delimiter: str) -> None:
    """Refuse a header that lacks columns, and say why that may be."""
    present = {*header, *map(normalized, filter(None, header))}
    missing = [
        c.name
        for c in wanted
        if not c.optional and c.name not in present and normalized(c.name) not in present
    ]
    if not missing:
        return
    names = {column.name for column in wanted}
    line = delimiter.join(header)
    for other in DELIMITERS:
        if other != delimiter and len(names & set(line.split(other))) > len(names & present):
            raise SourceError(
                f"{shown} is separated by {other!r}, not by {delimiter!r}: its header is "
                f"{line[:SHOWN_TEXT]!r}. Have the source write {delimiter!r}, or read the file with "
                f"delimiter={other!r}."
            )
    if not names & present:
        raise SourceError(
            f"{shown} has none of the declared columns ({', '.join(missing)}) in its first line, which is "
            f"{line[:SHOWN_TEXT]!r}. Is its header missing?"
        )
    unknown = [name for name in header if name not in names]
    hint = f" It has instead: {', '.join(unknown)}." if unknown else ""
    raise SourceError(f"{shown} lacks the column {', '.join(missing)}.{hint}")
