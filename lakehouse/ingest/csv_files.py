"""CSV files to Parquet, read strictly: a file that is not what was declared is refused by name.

DuckDB reads and writes; dlt imports the Parquet file as it is.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_reading import CsvReading
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import Extraction
from lakehouse.storage.sql import identifier, literal


def read_csv(
    extraction: Extraction,
    file: Path,
    *,
    null_value: str = "",
    computed: Mapping[str, str] | None = None,
) -> Any:
    """Read one file and hand it to dlt as Parquet with the declared types.

    Args:
        file: the CSV file, comma separated, UTF-8, with a header.
        null_value: how the file writes a missing value.
        computed: SQL expressions of declared columns that the file does not have.

    Raises:
        SourceError: the file is missing, empty, lacks a column, holds a value that is not of
            its column's type, or a row of another partition.
    """
    import dlt

    source = extraction.source
    shown = (
        file.relative_to(extraction.settings.source_dir)
        if file.is_relative_to(extraction.settings.source_dir)
        else file
    )
    computed = dict(computed or {})
    read = CsvReading(extraction.connection, file, shown, null_value)
    types = _file_types(_read_header(file), source.columns, set(computed), shown)
    target = extraction.folder / f"{file.stem}.parquet"
    columns = [identifier(name) for name in types]
    columns += [f"{expression} as {identifier(name)}" for name, expression in computed.items()]
    columns.append(f"{literal(shown)} as _source_file")
    rows = read.copy(columns, types, target)
    read.refuse_fractions(types)
    if rows == 0:
        raise SourceError(
            f"{shown} has a header but no rows. If the day is rightly empty, leave the file out."
        )
    _refuse_strays(extraction, target, shown)
    hints = dlt.mark.make_hints(columns=[column.dlt_hint() for column in source.columns])
    return dlt.mark.with_file_import(str(target), "parquet", rows, hints)


def _read_header(file: Path) -> list[str]:
    """The column names of the first line."""
    try:
        # What is not UTF-8 below the header is DuckDB's to refuse, with its line.
        with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
            header = next(csv.reader(lines), [])
    except FileNotFoundError:
        raise SourceError(f"{file} does not exist. Has the source delivered it?") from None
    if any(not name.isprintable() for name in header):
        raise SourceError(f"{file} is not UTF-8: its header reads {header}. Convert it to UTF-8.")
    if not header:
        raise SourceError(f"{file} is empty: not even a header.")
    return header


def _file_types(
    header: list[str], declared: tuple[Column, ...], computed: set[str], file: Path
) -> dict[str, str]:
    """The type of each column in the file's order; one that nobody declared is read as text."""
    names = [name.lower() for name in header]  # DuckDB takes names that differ by case for one
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise SourceError(f"{file} has the column {duplicates[0]!r} twice.")
    if "" in header:
        raise SourceError(f"{file} has a column without a name, the {header.index('') + 1}. of its header.")
    wanted = {column.name: column.type for column in declared if column.name not in computed}
    missing = [name for name in wanted if name not in header]
    if missing:
        unknown = [name for name in header if name not in wanted]
        hint = f" It has instead: {', '.join(unknown)}." if unknown else ""
        raise SourceError(f"{file} lacks the column {', '.join(missing)}.{hint}")
    return {name: wanted.get(name, "varchar") for name in header}


def _refuse_strays(extraction: Extraction, parquet: Path, file: Path) -> None:
    """A row of another day would be counted there too, or overwrite what that day had."""
    column = extraction.source.partition_by
    if column is None or extraction.partition is None:
        return
    strays = extraction.connection.execute(
        f"select count(*), any_value({identifier(column)}) from read_parquet({literal(parquet)})"
        f" where {identifier(column)} is distinct from {literal(extraction.partition)}::date"
    ).fetchall()[0]
    if strays[0]:
        where = strays[1] or "a missing date"
        raise SourceError(
            f"{file} holds {strays[0]} rows that are not of {extraction.partition} but of {where}."
        )
