"""Newline-delimited JSON files to Parquet, read strictly: what is not as declared is refused by name.

DuckDB reads and writes; dlt imports the Parquet files as they are.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lakehouse.ingest.columns import Column
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.files import audit, refuse_added, refuse_missing, shown_path
from lakehouse.ingest.json_reading import JsonReading, Shape, refusals
from lakehouse.ingest.landing import hand_over, land
from lakehouse.ingest.source import Extraction


def read_ndjson(
    extraction: Extraction,
    file: Path,
    *,
    optional: Collection[str] = (),
    computed: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """Read one file and hand it to dlt as Parquet with the declared types.

    A column that nobody declared is kept as text, nested values as JSON. A file without a line is
    a partition without rows, for a source with `may_be_empty`.

    Args:
        file: one JSON object a line, in UTF-8.
        optional: columns that an object may leave out, which then are null. Any other that is
            missing is refused, for it may have been renamed.
        computed: SQL expressions of declared columns that the file does not have.

    Raises:
        SourceError: the file is missing, empty, no JSON, a line lacks a column or holds a value that
            is not of its column's type, or a row of another partition.
    """
    if not file.exists():
        raise refuse_missing(file)
    declared = extraction.source.columns
    computed = dict(computed or {})
    reading = JsonReading(extraction.connection, file, shown_path(extraction, file))
    shapes = reading.shapes()
    wanted = [column for column in declared if column.name not in computed]
    _refuse(reading, shapes, [column.name for column in wanted if column.name not in optional])
    undeclared = _undeclared(reading, shapes, [column.name for column in wanted])
    refuse_added((column.name for column in undeclared), computed, reading.shown)
    files = (
        reading.land(lambda query: land(extraction, query), wanted, undeclared, computed) if shapes else []
    )
    audit(extraction, files, reading.shown, "holds no rows")
    yield from hand_over(extraction, files, undeclared)


def _refuse(reading: JsonReading, shapes: Sequence[Shape], required: Sequence[str]) -> None:
    """Name the first line that is no object with the columns of one."""
    if first := min(refusals(shapes, required), default=None):
        row, why = first
        raise SourceError(f"{reading.shown}: line {reading.line_of(row)} {why.rstrip('.')}.")


def _undeclared(reading: JsonReading, shapes: Sequence[Shape], wanted: Sequence[str]) -> list[Column]:
    """The columns that nobody declared, as text, in the order in which the lines bring them."""
    names = dict.fromkeys(key for shape in shapes for key in shape.keys)
    spelled: dict[str, str] = {}
    for name in (*wanted, *names):
        other = spelled.setdefault(name.lower(), name)
        if other != name:
            raise SourceError(
                f"{reading.shown} has both {other} and {name}: names must differ by more than case."
            )
    return [Column(name, "varchar") for name in names if name not in wanted]
