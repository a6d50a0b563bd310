"""DuckDB reading one CSV file: what it would skip or round is refused instead, or set aside.

The file is read once, with types that show what the declared ones would hide (`values`). Only
where something is wrong is it read again, to say at which line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import DISCARDING, Incoming
from lakehouse.ingest.landing import land
from lakehouse.ingest.source import Extraction
from lakehouse.ingest.values import read_as, value
from lakehouse.storage.errors import StorageError, disk_advice
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import StagedFile, discard

# A message shows the first few; a broken export breaks every line the same way.
SHOWN_REJECTS = 3
REJECTS_LIMIT = 100
NO_LIMIT = 0
SHOWN_TEXT = 200  # characters of a line


@dataclass(frozen=True)
class CsvReading:
    """One file being read.

    Args:
        shown: how messages name the file.
        null_value: how the file writes a missing value.
        columns: its columns, in its order, each with what becomes of it.
        computed: SQL of columns that it does not have.
    """

    extraction: Extraction
    file: Path
    shown: Path
    null_value: str
    columns: Sequence[Incoming]
    computed: Mapping[str, str]

    def land(self) -> list[StagedFile]:
        """Write the file's rows, with its name and the computed columns.

        Raises:
            SourceError: the file is not what was declared; nothing stays written.
        """
        import duckdb

        self._forget_rejects()  # a file that failed before may have left some
        try:
            files = land(self.extraction, self._query())
        except (StorageError, duckdb.Error) as error:
            return self._land_sorted(error)
        if self._rejects("select 1 from reject_errors limit 1"):
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

    def _fitting(self, relation: str) -> Fitting:
        return Fitting(self.extraction, str(self.shown), relation, self.columns, self.computed)

    def _land_sorted(self, failure: Exception | None) -> list[StagedFile]:
        """Land what fits, where the mode is to set aside what does not; else say what that is."""
        import duckdb

        discards = self.extraction.source.mode in DISCARDING
        if not discards:
            self._refuse_bad_lines()
        texts = self._reader({column.brought.name: "varchar" for column in self.columns}, NO_LIMIT)
        try:
            rows = self._fitting(texts).sort_out()
            self._forget_rejects()
            files = land(self.extraction, f"select *, {literal(self.shown)} as _source_file from ({rows})")
        except (StorageError, duckdb.Error) as error:
            raise self._unreadable(failure or error) from error
        if discards:
            self._set_lines_aside()
        elif self._rejects("select 1 from reject_errors limit 1"):
            discard(files)
            raise SourceError(f"{self.shown} has lines that cannot be read.")
        return files

    def _unreadable(self, error: Exception) -> SourceError:
        reason = str(error).splitlines()[0]
        if isinstance(error, StorageError):
            return SourceError(f"{self.shown}: {reason}")
        if advice := disk_advice(reason):
            return SourceError(f"{self.shown} could not be loaded: {reason}: {advice}.")
        return SourceError(
            f"{self.shown} could not be read: {reason} Look at its line ends, its quotes and the values "
            "of the columns that others are computed from."
        )

    def _set_lines_aside(self) -> None:
        """Put the lines that could not be read as rows into quarantine, as they are."""
        self.extraction.quarantined.add(
            self.extraction.partition,
            "select null as column_name, null as value, 'unreadable' as rule,"
            " any_value(error_message) as reason,"
            f" any_value(csv_line) as raw, {literal(self.shown)} as source_file, line as source_row"
            " from reject_errors group by line order by line",
        )

    def _refuse_bad_lines(self) -> None:
        """Read the file again, as it was declared, to say where it is something else."""
        import duckdb

        self._forget_rejects()
        declared = {c.brought.name: c.column.type if c.column else "varchar" for c in self.columns}
        every = ", ".join(f"count({identifier(name)})" for name in declared)  # lest one is not looked at
        try:
            self.extraction.connection.execute(f"select {every} from {self._reader(declared)}").fetchall()
        except duckdb.Error:
            return  # no single line is to blame: the error that led here says more
        self._refuse_rejects()

    def _reader(self, types: Mapping[str, str], limit: int = REJECTS_LIMIT) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
        return (
            f"read_csv({literal(self.file)}, columns = {{{columns}}}, auto_detect = false, header = true,"
            f" delim = ',', quote = '\"', escape = '\"', nullstr = {literal(self.null_value)},"
            f" store_rejects = true, rejects_limit = {limit}, hive_partitioning = false)"
        )

    def _forget_rejects(self) -> None:
        self.extraction.connection.execute(
            "drop table if exists reject_errors; drop table if exists reject_scans"
        )

    def _refuse_rejects(self) -> None:
        """Fail with the lines DuckDB could not read."""
        rejects = self._rejects(
            "select line, any_value(column_name), any_value(error_type), any_value(error_message),"
            " any_value(csv_line) from reject_errors"
            " group by line, if(error_type = 'CAST', column_name, '') order by line"
        )
        if not rejects:
            return
        lines = [
            f"line {line}, column {column}: {message}"
            if kind == "CAST"
            else f"line {line}: {message} in {text[:SHOWN_TEXT]!r}"
            for line, column, kind, message, text in rejects[:SHOWN_REJECTS]
        ]
        others = f"{'at least ' if len(rejects) >= REJECTS_LIMIT else ''}{len(rejects) - SHOWN_REJECTS}"
        more = f" (and {others} more)" if len(rejects) > SHOWN_REJECTS else ""
        raise SourceError(f"{self.shown} is not what was declared: {'; '.join(lines)}{more}.")

    def _rejects(self, query: str) -> list[tuple[Any, ...]]:
        """What a query finds of the lines that the last reading left out."""
        return self.extraction.connection.execute(query).fetchall()
