"""CSV files to Parquet, read strictly: a file that is not what was declared is refused by name.

DuckDB reads and writes; dlt imports the Parquet files as they are.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lakehouse.ingest.arrivals import note_arrivals
from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_reading import CsvReading
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.files import refuse_added, refuse_empty, refuse_missing, refuse_strays, shown_path
from lakehouse.ingest.incoming import Brought, Columns, Incoming, normalized
from lakehouse.ingest.landing import hand_over
from lakehouse.ingest.source import Extraction


def read_csv(
    extraction: Extraction,
    file: Path,
    *,
    null_value: str = "",
    computed: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """Read one file and hand it to dlt as Parquet with the declared types.

    Args:
        file: the CSV file, comma separated, UTF-8, with a header.
        null_value: how the file writes a missing value.
        computed: SQL expressions of declared columns that the file does not have.

    Raises:
        SourceError: the file is missing, empty (of a source that may have no rows, only without a
            header), lacks a column, holds a value that is not of its column's type (unless the schema
            mode is to set it aside), or a row of another partition.
    """
    shown = shown_path(extraction, file)
    computed = dict(computed or {})
    columns = _file_columns(extraction, _read_header(file), set(computed), shown)
    aside = extraction.quarantined.rows.get(extraction.partition, 0)
    files = CsvReading(extraction, file, shown, null_value, columns, computed).land()
    if extraction.quarantined.rows.get(extraction.partition, 0) == aside:
        refuse_empty(extraction, files, shown, "has a header but no rows")
    refuse_strays(extraction, files, shown)
    note_arrivals(extraction, columns, computed, typed=False)
    undeclared = [column for column in columns if not column.declared and column.unwanted is None]
    yield from hand_over(extraction, files, [Column(column.name, "varchar") for column in undeclared])


def _read_header(file: Path) -> list[str]:
    """The column names of the first line."""
    try:
        # What is not UTF-8 below the header is DuckDB's to refuse, with its line.
        with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            header = next(csv.reader(lines), [])
    except FileNotFoundError:
        raise refuse_missing(file) from None
    if any(not name.isprintable() for name in header):
        raise SourceError(f"{file} is not UTF-8: its header reads {header}. Convert it to UTF-8.")
    if not header:
        raise SourceError(f"{file} is empty: not even a header.")
    return header


def _file_columns(
    extraction: Extraction, header: list[str], computed: set[str], shown: Path
) -> list[Incoming]:
    """The columns in the file's order; one that nobody declared is read as text."""
    import duckdb

    names = [name.lower() for name in header]  # DuckDB takes names that differ by case for one
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise SourceError(f"{shown} has the column {duplicates[0]!r} twice.")
    refuse_added(header, computed, shown)
    if "" in header:
        raise SourceError(f"{shown} has a column without a name, the {header.index('') + 1}. of its header.")
    source = extraction.source
    wanted = [column for column in source.columns if column.name not in computed]
    present = {*header, *map(normalized, header)}
    missing = [
        c.name
        for c in wanted
        if not c.optional and c.name not in present and normalized(c.name) not in present
    ]
    if missing:
        unknown = [name for name in header if name not in {column.name for column in wanted}]
        hint = f" It has instead: {', '.join(unknown)}." if unknown else ""
        raise SourceError(f"{shown} lacks the column {', '.join(missing)}.{hint}")
    brought = [Brought(name, duckdb.type("varchar"), "varchar") for name in header]
    return Columns(source, str(shown), extraction.held).match(brought, computed)
