"""DuckDB reading one CSV file: what it would skip or round is refused instead, or set aside.

The file is read once, with types that show what the declared ones would hide (`values`). Only
where something is wrong is it read again, to say at which line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lakehouse.ingest.csv_lines import first_other_end, lines_of_rows
from lakehouse.ingest.csv_rejects import NO_LIMIT, REJECTS_LIMIT, Rejects
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import DISCARDING, Incoming
from lakehouse.ingest.landing import land
from lakehouse.ingest.source import Extraction
from lakehouse.ingest.values import read_as, value
from lakehouse.storage.errors import StorageError, disk_advice
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import StagedFile, discard

SHIFTS = "csv_line_shifts"


@dataclass(frozen=True)
class CsvReading:
    """One file being read.

    Args:
        shown: how messages name the file.
        null_value: how the file writes a missing value.
        delimiter: what it separates its values by.
        columns: its columns, in its order, each with what becomes of it.
        computed: SQL of columns that it does not have.
    """

    extraction: Extraction
    file: Path
    shown: Path
    null_value: str
    delimiter: str
    columns: Sequence[Incoming]
    computed: Mapping[str, str]

    def land(self) -> list[StagedFile]:
        """Write the file's rows, with its name and the computed columns.

        Raises:
            SourceError: the file is not what was declared; nothing stays written.
        """
        import duckdb

        self._rejects.forget()  # a file that failed before may have left some
        try:
            files = land(self.extraction, self._query(), (*self.columns, *self.computed.items()))
        except (StorageError, duckdb.Error) as error:
            return self._land_sorted(error)
        if self._rejects:
            discard(files)
            return self._land_sorted(None)
        return files

    def _query(self) -> str:
        wanted = [column for column in self.columns if column.unwanted is None]
        selected = [f"{self._value(column)} as {identifier(column.name)}" for column in wanted]
        types = {c.brought.name: read_as(c.column) if c.column else "varchar" for c in self.columns}
        unwanted = [identifier(column.brought.name) for column in self.columns if column.unwanted]
        clean = " and ".join(f"({name} is null or error('unwanted'))" for name in unwanted)
        lines = f"select {', '.join(selected)} from {self._reader(types)} where {clean or 'true'}"
        return self._fitting("").refusing_without_key(self._with_added(lines))

    @staticmethod
    def _value(column: Incoming) -> str:
        if column.column is None:
            return identifier(column.brought.name)
        return value(column.column, identifier(column.brought.name))

    def _with_added(self, lines: str) -> str:
        added = [f"{expression} as {identifier(name)}" for name, expression in self.computed.items()]
        added.append(f"{literal(self.shown)} as _source_file")
        return f"select *, {', '.join(added)} from ({lines}) as lines"

    def sorting(self) -> Fitting:
        """What does not fit in the file, found by the lines on which its rows begin."""
        return replace(self._fitting(self._numbered()), row="lakehouse_line", word="line")

    def _fitting(self, relation: str) -> Fitting:
        return Fitting(self.extraction, str(self.shown), relation, self.columns, self.computed)

    @cached_property
    def _rejects(self) -> Rejects:
        return Rejects(self.extraction, self.file, self.shown, self.delimiter)

    def _land_sorted(self, failure: Exception | None) -> list[StagedFile]:
        """Land what fits, where the mode is to set aside what does not; else say what that is."""
        import duckdb

        discards = self.extraction.source.mode in DISCARDING
        if not discards:
            self._refuse_bad_lines()
        try:
            rows = self.sorting().sort_out()
            self._rejects.forget()
            files = land(self.extraction, f"select *, {literal(self.shown)} as _source_file from ({rows})")
        except (StorageError, duckdb.Error) as error:
            raise self._unreadable(failure or error) from error
        if discards:
            self._rejects.set_aside()
        elif self._rejects:
            discard(files)
            raise SourceError(f"{self.shown} has lines that cannot be read.")
        return files

    def _unreadable(self, error: Exception) -> SourceError:
        reason = str(error).splitlines()[0]
        if isinstance(error, StorageError):
            return SourceError(f"{self.shown}: {reason}")
        if advice := disk_advice(reason):
            return SourceError(f"{self.shown} could not be loaded: {reason}: {advice}.")
        if line := first_other_end(self.file, self.delimiter):
            return SourceError(
                f"{self.shown} could not be read: line {line} ends in another way than the lines before it "
                "(\\r\\n or \\n or \\r). Have the source end all lines in one way."
            )
        return SourceError(
            f"{self.shown} could not be read: {reason} Look at its line ends, its quotes and the values "
            "of the columns that others are computed from."
        )

    def _refuse_bad_lines(self) -> None:
        """Read the file again, as it was declared, to say where it is something else."""
        import duckdb

        declared = {c.brought.name: c.column.type if c.column else "varchar" for c in self.columns}
        try:
            self._look_at(declared, self._reader(declared))
        except duckdb.Error:
            return  # no single line is to blame: the error that led here says more
        self._rejects.refuse()

    def _look_at(self, columns: Iterable[str], reader: str) -> None:
        """Read every value, so that what cannot be read is known."""
        self._rejects.forget()
        every = ", ".join(f"count({identifier(name)})" for name in columns)  # lest one is not looked at
        self.extraction.connection.execute(f"select {every} from {reader}").fetchall()

    def _numbered(self) -> str:
        """The file's rows as text, each with the line on which it begins (`lakehouse_line`)."""
        import pyarrow as pa  # type: ignore[import-untyped]

        texts = {column.brought.name: "varchar" for column in self.columns}
        reader = self._reader(texts, NO_LIMIT)
        self._look_at(texts, reader)
        left_out = set(self._rejects.lines().values())
        shifts = _shifts(lines_of_rows(self.file, self.delimiter, left_out))
        if len(shifts) < 2:  # noqa: PLR2004  (no row takes more than its line)
            shift = next(iter(shifts.values()), 1)
            return f"(select *, row_number() over () + {shift} as lakehouse_line from {reader})"
        connection = self.extraction.connection
        connection.register(
            SHIFTS, pa.table({"since": [*shifts.keys()], "shift": pa.array(shifts.values(), pa.int64())})
        )
        connection.execute(f"create or replace table {SHIFTS}_held as from {SHIFTS}")
        connection.unregister(SHIFTS)
        return (
            f"(select rows.*, lakehouse_row + shift as lakehouse_line"
            f" from (select *, row_number() over () as lakehouse_row from {reader}) as rows"
            f" asof join {SHIFTS}_held as shifts on rows.lakehouse_row >= shifts.since"
            " order by lakehouse_row)"
        )

    def _reader(self, types: Mapping[str, str], limit: int = REJECTS_LIMIT) -> str:
        # Not with `parallel = false`: DuckDB 1.5.5 then drops what follows an open quote, and says nothing.
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
        return (
            f"read_csv({literal(self.file)}, columns = {{{columns}}}, auto_detect = false, header = true,"
            f" delim = {literal(self.delimiter)}, quote = '\"', escape = '\"',"
            f" nullstr = {literal(self.null_value)}, store_rejects = true, rejects_limit = {limit},"
            f" hive_partitioning = false)"
        )


def _shifts(lines: Iterable[int]) -> dict[int, int]:
    """By how much a line's number is ahead of its row's, for each row where that changes."""
    shifts: dict[int, int] = {}
    current = None
    for row, line in enumerate(lines, start=1):
        if line - row != current:
            current = shifts[row] = line - row
    return shifts
