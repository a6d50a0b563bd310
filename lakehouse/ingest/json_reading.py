"""DuckDB reading one file of JSON objects, one a line: what it would skip or convert is refused instead.

The file is looked through once for what its lines are, and read once for their values. Only where
something is wrong is it read again, to say at which line.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import Incoming
from lakehouse.ingest.json_lines import Shape, first_broken_line, keep_lines
from lakehouse.ingest.landing import land
from lakehouse.ingest.source import Extraction
from lakehouse.storage.errors import StorageError, disk_advice, reason
from lakehouse.storage.sql import literal
from lakehouse.storage.staging import StagedFile


@dataclass(frozen=True)
class JsonReading:
    """One file being read.

    Args:
        shown: how messages name the file.
    """

    extraction: Extraction
    file: Path
    shown: Path

    def shapes(self) -> list[Shape]:
        """The different shapes of the file's lines, in the order in which they first appear.

        Raises:
            SourceError: a line is not JSON.
        """
        import duckdb

        try:
            return self._shapes(
                f"select row_number() over () as row, json from read_ndjson_objects({literal(self.file)})"
            )
        except duckdb.Error as error:
            why = first_broken_line(self.file) or str(error).splitlines()[0]
            raise SourceError(f"{self.shown} could not be read: {why}") from error

    def lines(self) -> str | None:
        """The lines that are rows, where not all are; the others are set aside."""
        return keep_lines(self.extraction, self.file, self.shown)

    def shapes_of(self, lines: str | None) -> list[Shape]:
        """The different shapes of lines that were kept."""
        return self._shapes(f"select lakehouse_row as row, json from {lines}") if lines else []

    def land(self, columns: Sequence[Incoming], computed: Mapping[str, str]) -> list[StagedFile]:
        """Write the file's rows, with its name and the computed columns.

        Raises:
            SourceError: a value is not of its column's type; nothing stays written.
        """
        import duckdb

        listed = ", ".join(f"{literal(column.brought)}: 'JSON'" for column in columns)
        reader = (
            f"read_json({literal(self.file)}, columns = {{{listed}}}, format = 'newline_delimited',"
            " hive_partitioning = false)"
        )
        fitting = Fitting(self.extraction, str(self.shown), reader, columns, computed)
        try:
            return self._write(fitting.strict(), (*columns, *computed.items()))
        except (StorageError, duckdb.Error) as error:
            if advice := disk_advice(str(error)):
                raise SourceError(f"{self.shown} could not be loaded: {reason(error)}: {advice}.") from error
            if not (lines := self.lines()):
                raise self._unreadable(error) from error
        return self.land_lines(lines, columns, computed)

    def land_lines(
        self, lines: str, columns: Sequence[Incoming], computed: Mapping[str, str]
    ) -> list[StagedFile]:
        """The same of lines that were kept, where something does not fit: that is named, or set aside."""
        import duckdb

        try:
            return self._write(self.sorting(columns, computed, lines).sort_out())
        except (StorageError, duckdb.Error) as error:
            raise self._unreadable(error) from error

    def sorting(
        self, columns: Sequence[Incoming], computed: Mapping[str, str], lines: str | None = None
    ) -> Fitting:
        """What does not fit in the file, found by line.

        Args:
            lines: its lines, where they were kept already.
        """
        # By number: DuckDB takes names that differ by case for one.
        named = [
            replace(c, brought=replace(c.brought, name=f"k{i}", called=str(c.brought)))
            for i, c in enumerate(columns)
        ]
        keys = [f"json_extract(json, {literal(_pointer(str(c.brought)))}) as {c.brought.name}" for c in named]
        relation = f"(select {', '.join(['lakehouse_row', 'json', *keys])} from {lines or self.lines()})"
        return Fitting(
            self.extraction,
            str(self.shown),
            relation,
            named,
            computed,
            row="lakehouse_row",
            raw="cast(json as varchar)",
            word="line",
        )

    def _write(self, rows: str, alike: Hashable = None) -> list[StagedFile]:
        return land(self.extraction, f"select *, {literal(self.shown)} as _source_file from ({rows})", alike)

    def _unreadable(self, error: Exception) -> SourceError:
        return SourceError(f"{self.shown} could not be read: {str(error).splitlines()[0]}")

    def _shapes(self, lines: str) -> list[Shape]:
        shapes = self.extraction.connection.execute(
            f"with lines as ({lines})"
            " select json_type(json) as kind, list_sort(json_keys(json)) as keys, min(row) as row"
            " from lines group by all order by row"
        ).fetchall()
        return [Shape(kind, keys or [], row) for kind, keys, row in shapes]

    def line_of(self, row: int) -> int:
        """The line of a row: blank lines are none."""
        with self.file.open("rb") as lines:
            filled = (number for number, line in enumerate(lines, start=1) if line.strip())
            return next(islice(filled, row - 1, None))


def _pointer(key: str) -> str:
    """A JSON pointer to a key of an object, whatever is in its name."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
