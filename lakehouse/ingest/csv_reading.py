"""DuckDB reading one CSV file: what it would skip or round is refused instead.

The file is read once, with types that show what the declared ones would hide (`csv_values`). Only
where something is wrong is it read again, to say at which line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_values import complaint, is_checked, read_as, value
from lakehouse.ingest.errors import SourceError
from lakehouse.storage.errors import StorageError, disk_advice
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import StagedFile, discard

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A message shows the first few; a broken export breaks every line the same way.
SHOWN_REJECTS = 3
REJECTS_LIMIT = 100
SHOWN_TEXT = 200  # characters of a line


@dataclass(frozen=True)
class CsvReading:
    """One file being read.

    Args:
        shown: how messages name the file.
        null_value: how the file writes a missing value.
        columns: its columns, in its order.
    """

    connection: "DuckDBPyConnection"
    file: Path
    shown: Path
    null_value: str
    columns: Sequence[Column]

    def land(self, land: Callable[[str], list[StagedFile]], computed: Mapping[str, str]) -> list[StagedFile]:
        """Let `land` write the query of the file's rows, with its name and the computed columns.

        Raises:
            SourceError: the file is not what was declared; nothing stays written.
        """
        import duckdb

        self._forget_rejects()  # a file that failed before may have left some
        try:
            files = land(self._query(computed))
        except (StorageError, duckdb.Error) as error:
            self._refuse_bad_values()
            reason = str(error).splitlines()[0]
            if isinstance(error, StorageError):
                raise SourceError(f"{self.shown}: {reason}") from error
            if advice := disk_advice(reason):
                raise SourceError(f"{self.shown} could not be loaded: {reason}: {advice}.") from error
            raise SourceError(
                f"{self.shown} could not be read: {reason} Look at its line ends, its quotes and the values "
                "of the columns that others are computed from."
            ) from error
        if self._rejects("select 1 from reject_errors limit 1"):
            discard(files)
            self._refuse_bad_values()
            raise SourceError(f"{self.shown} has lines that cannot be read.")
        return files

    def _query(self, computed: Mapping[str, str]) -> str:
        columns = [f"{value(column)} as {identifier(column.name)}" for column in self.columns]
        added = [f"{expression} as {identifier(name)}" for name, expression in computed.items()]
        added.append(f"{literal(self.shown)} as _source_file")
        reader = self._reader({column.name: read_as(column) for column in self.columns})
        lines = f"select {', '.join(columns)} from {reader}"
        return f"select *, {', '.join(added)} from ({lines}) as lines"

    def _refuse_bad_values(self) -> None:
        """Read the file again, as it was declared, to say where it is something else."""
        import duckdb

        self._forget_rejects()
        declared = {column.name: column.type for column in self.columns}
        every = ", ".join(f"count({identifier(name)})" for name in declared)  # lest one is not looked at
        try:
            self.connection.execute(f"select {every} from {self._reader(declared)}").fetchall()
        except duckdb.Error:
            return  # no single line is to blame: the error that led here says more
        self._refuse_rejects()
        self._refuse_misfits()

    def _refuse_misfits(self) -> None:
        """Name the first value that its column's type would round, cut or lose."""
        found = [(*first, column) for column in self.columns if (first := self._first_misfit(column))]
        self._forget_rejects()
        if found:
            row, text, is_time, column = min(found, key=lambda misfit: misfit[0])
            raise SourceError(
                f"{self.shown} is not what was declared: row {row}, column {column.name}: {text!r} "
                f"{complaint(column, is_time)}."
            )

    def _first_misfit(self, column: Column) -> tuple[int, str, bool] | None:
        """Row, text, and whether that is a time, of the first value that does not fit."""
        if not is_checked(column):
            return None
        name = identifier(column.name)
        texts = self._reader({each.name: "varchar" for each in self.columns})
        return self.connection.execute(
            f"with texts as (select row_number() over () as row, {name} as text from {texts}),"
            f" values as (select row, text, try_cast(text as {read_as(column)}) as {name} from texts)"
            f" select row, text, try_cast(text as timestamp) is not null from values"
            f" where text is not null and try({value(column, misfit='null')}) is null order by row limit 1"
        ).fetchone()

    def _reader(self, types: Mapping[str, str]) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
        return (
            f"read_csv({literal(self.file)}, columns = {{{columns}}}, auto_detect = false, header = true,"
            f" delim = ',', quote = '\"', escape = '\"', nullstr = {literal(self.null_value)},"
            f" store_rejects = true, rejects_limit = {REJECTS_LIMIT}, hive_partitioning = false)"
        )

    def _forget_rejects(self) -> None:
        self.connection.execute("drop table if exists reject_errors; drop table if exists reject_scans")

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
        return self.connection.execute(query).fetchall()
