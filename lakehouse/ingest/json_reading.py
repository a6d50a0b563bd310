"""DuckDB reading one file of JSON objects, one a line: what it would skip or convert is refused instead.

The file is looked through once for what its lines are, and read once for their values. Only where
something is wrong is it read again, to say at which line.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.ingest import json_values
from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_values import read_as, value
from lakehouse.ingest.errors import SourceError
from lakehouse.storage.errors import StorageError
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import StagedFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHOWN_TEXT = 200  # characters of a line or a value
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Shape:
    """What some lines of a file have in common.

    Args:
        kind: OBJECT, or what else of JSON the lines are.
        keys: the objects' keys, sorted; one that an object has twice is in it twice.
        row: the first such line, blank lines not counted.
    """

    kind: str
    keys: list[str]
    row: int


@dataclass(frozen=True)
class JsonReading:
    """One file being read.

    Args:
        shown: how messages name the file.
    """

    connection: "DuckDBPyConnection"
    file: Path
    shown: Path

    def shapes(self) -> list[Shape]:
        """The different shapes of the file's lines, in the order in which they first appear.

        Raises:
            SourceError: a line is not JSON.
        """
        import duckdb

        try:
            shapes = self.connection.execute(
                "with lines as (select row_number() over () as row, json"
                f" from read_ndjson_objects({literal(self.file)}))"
                " select json_type(json) as kind, list_sort(json_keys(json)) as keys, min(row) as row"
                " from lines group by all order by row"
            ).fetchall()
        except duckdb.Error as error:
            why = _first_broken_line(self.file) or str(error).splitlines()[0]
            raise SourceError(f"{self.shown} could not be read: {why}") from error
        return [Shape(kind, keys or [], row) for kind, keys, row in shapes]

    def land(
        self,
        land: Callable[[str], list[StagedFile]],
        columns: Sequence[Column],
        undeclared: Sequence[Column],
        computed: Mapping[str, str],
    ) -> list[StagedFile]:
        """Let `land` write the query of the file's rows, with its name and the computed columns.

        Args:
            undeclared: columns of which the text is taken, whatever they hold.

        Raises:
            SourceError: a value is not of its column's type; nothing stays written.
        """
        import duckdb

        others = [identifier(column.name) for column in undeclared]
        values = [f"{value(column)} as {identifier(column.name)}" for column in columns]
        added = [f"{expression} as {identifier(name)}" for name, expression in computed.items()]
        added.append(f"{literal(self.shown)} as _source_file")
        texts = [
            f"cast({json_values.text(column)} as {read_as(column)}) as {identifier(column.name)}"
            for column in columns
        ]
        texts += [f"{name} ->> '$' as {name}" for name in others]
        query = f"select {', '.join(texts)} from {self._reader([*columns, *undeclared])}"
        query = f"select {', '.join([*values, *others])} from ({query}) as texts"
        try:
            return land(f"select *, {', '.join(added)} from ({query}) as lines")
        except (StorageError, duckdb.Error) as error:
            self._refuse_misfits(columns)
            reason = str(error).splitlines()[0]
            raise SourceError(f"{self.shown} could not be read: {reason}") from error

    def line_of(self, row: int) -> int:
        """The line of a row: blank lines are none."""
        with self.file.open("rb") as lines:
            filled = (number for number, line in enumerate(lines, start=1) if line.strip())
            return next(islice(filled, row - 1, None))

    def _refuse_misfits(self, columns: Sequence[Column]) -> None:
        """Name the first value that is not of its column's type."""
        found = [(*first, column) for column in columns if (first := self._first_misfit(column))]
        if found:
            row, kind, shown, is_time, column = min(found, key=lambda misfit: misfit[0])
            raise SourceError(
                f"{self.shown} is not what was declared: line {self.line_of(row)}, column {column.name}: "
                f"{shown[:SHOWN_TEXT]} {json_values.complaint(column, kind, shown, is_time)}."
            )

    def _first_misfit(self, column: Column) -> tuple[int, str, str, bool] | None:
        """Row, kind, JSON, and whether its text is a time, of the first value that does not fit."""
        name = identifier(column.name)
        fits = f"try_cast({json_values.text(column, misfit='null')} as {read_as(column)})"
        return self.connection.execute(
            "with found as (select row_number() over () as row, json_type("
            f"{name}) as kind, {name}::varchar as shown, {name} ->> '$' as text, {fits} as {name}"
            f" from {self._reader([column])})"
            " select row, kind, shown, try_cast(text as timestamp) is not null from found"
            f" where kind <> 'NULL' and try({value(column, misfit='null')}) is null order by row limit 1"
        ).fetchone()

    def _reader(self, columns: Sequence[Column]) -> str:
        listed = ", ".join(f"{literal(column.name)}: 'JSON'" for column in columns)
        return (
            f"read_json({literal(self.file)}, columns = {{{listed}}}, format = 'newline_delimited',"
            " hive_partitioning = false)"
        )


def _first_broken_line(file: Path) -> str | None:
    """Which line of a file is not JSON, and why; DuckDB's own line numbers are another's."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if why := _why_broken(line):
                cut_off = "" if line.endswith(b"\n") else " The file ends there: is it cut off?"
                return f"line {number} {why}.{cut_off}"
    return None


def _why_broken(line: bytes) -> str | None:
    """What is wrong with a line, None if nothing is."""
    if line.startswith(BYTE_ORDER_MARK):
        return "begins with a byte order mark. Have the source write UTF-8 without one"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return "is not UTF-8. Convert the file to UTF-8"
    if "\0" in text:
        return "is not UTF-8, or holds a zero byte. Convert the file to UTF-8"
    if not text.strip():
        return None
    try:
        json.loads(text)
    except ValueError as error:
        return f"is not JSON: {error} in {text.rstrip()[:SHOWN_TEXT]!r}"
    return None


def refusals(shapes: Sequence[Shape], required: Sequence[str]) -> Iterator[tuple[int, str]]:
    """What is wrong with a file's shapes: the first row of each, and the reason."""
    for shape in shapes:
        lower = [key.lower() for key in shape.keys]  # DuckDB takes names that differ by case for one
        missing = [name for name in required if name not in shape.keys]
        if shape.kind != "OBJECT":
            word = json_values.WORDS.get(shape.kind, "null")
            yield shape.row, f"is {word}, not an object: each line is one row"
        elif twice := [key for key in lower if lower.count(key) > 1]:
            yield shape.row, f"has the column {twice[0]!r} twice"
        elif "" in shape.keys:
            yield shape.row, "has a column without a name"
        elif missing:
            unknown = [key for key in shape.keys if key not in required]
            hint = f" It has instead: {', '.join(unknown)}." if unknown else ""
            yield shape.row, f"lacks the column {', '.join(missing)}.{hint}"
