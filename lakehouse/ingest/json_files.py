"""Newline-delimited JSON files to Parquet, read strictly: what is not as declared is refused by name.

DuckDB reads and writes; dlt imports the Parquet files as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakehouse.ingest.arrivals import note_arrivals
from lakehouse.ingest.columns import Column
from lakehouse.ingest.encoding import refuse_other_encodings
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.files import refuse_added, refuse_empty, refuse_missing, refuse_strays, shown_path
from lakehouse.ingest.incoming import DISCARDING, Brought, Columns
from lakehouse.ingest.json_lines import Shape, refusals
from lakehouse.ingest.json_reading import JsonReading
from lakehouse.ingest.landing import hand_over
from lakehouse.ingest.source import Extraction
from lakehouse.storage.staging import StagedFile


def read_ndjson(
    extraction: Extraction,
    file: Path,
    *,
    computed: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """Read one file and hand it to dlt as Parquet with the declared types.

    A column that nobody declared is kept as text, nested values as JSON. A file without a line is
    a partition without rows, for a source with `may_be_empty`.

    Args:
        file: one JSON object a line, in UTF-8.
        computed: SQL expressions of declared columns that the file does not have.

    Raises:
        SourceError: the file is missing, empty, no JSON, a line lacks a column or holds a value that
            is not of its column's type, or a row of another partition.
    """
    import duckdb

    if not file.exists():
        raise refuse_missing(file)
    computed = dict(computed or {})
    reading = JsonReading(extraction, file, shown_path(extraction, file))
    refuse_other_encodings(file, reading.shown)
    aside = extraction.quarantined.rows.get(extraction.partition, 0)
    declared = [column for column in extraction.source.columns if column.name not in computed]
    required = [c.name for c in declared if not c.optional]
    shapes, lines = _rows(reading, required)
    names = dict.fromkeys(key for shape in shapes for key in shape.keys)
    refuse_added(
        (name for name in names if name not in extraction.source.column_names), computed, reading.shown
    )
    brought = [Brought(name, duckdb.type("json"), "varchar", is_json=True) for name in names]
    columns = Columns(extraction.source, str(reading.shown), extraction.held).match(brought, computed)
    files: list[StagedFile] = []
    if lines:
        files = reading.land_lines(lines, columns, computed)
    elif shapes:
        files = reading.land(columns, computed)
    if extraction.quarantined.rows.get(extraction.partition, 0) == aside:
        refuse_empty(extraction, files, reading.shown, "holds no rows")
    refuse_strays(extraction, files, reading.shown, lambda: reading.sorting(columns, computed))
    note_arrivals(extraction, columns, computed, typed=False)
    undeclared = [c for c in columns if not c.declared and c.unwanted is None]
    yield from hand_over(extraction, files, [Column(column.name, "varchar") for column in undeclared])


def _rows(reading: JsonReading, required: Sequence[str]) -> tuple[list[Shape], str | None]:
    """The shapes of the lines that are rows, and these lines by themselves where not all are.

    Raises:
        SourceError: a line is no row with the columns of one, and the mode is not to set it aside.
    """
    if reading.extraction.source.mode not in DISCARDING:
        shapes = reading.shapes()
        if first := min(refusals(shapes, required), default=None):
            row, why = first
            raise SourceError(f"{reading.shown}: line {reading.line_of(row)} {why.rstrip('.')}.")
        return shapes, None
    with suppress(SourceError):
        shapes = reading.shapes()
        names = {key for shape in shapes for key in shape.keys}
        if not any(refusals(shapes, ())) and len(names) == len({name.lower() for name in names}):
            return shapes, None
    lines = reading.lines()
    return reading.shapes_of(lines), lines
