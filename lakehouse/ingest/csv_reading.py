"""DuckDB reading one CSV file: what it would skip or round is refused instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.ingest.columns import WHOLE_NUMBERS
from lakehouse.ingest.errors import SourceError
from lakehouse.storage.sql import identifier, literal

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
    """

    connection: "DuckDBPyConnection"
    file: Path
    shown: Path
    null_value: str

    def copy(self, columns: list[str], types: Mapping[str, str], target: Path) -> int:
        """Write the file's rows as Parquet and return their number; refuse lines that cannot be read."""
        import duckdb

        self._forget_rejects()  # a file that failed before may have left some
        query = f"select {', '.join(columns)} from {self._reader(types)}"
        try:
            rows = self.connection.execute(
                f"copy ({query}) to {literal(target)} (format parquet, compression zstd)"
            ).fetchall()[0][0]
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise SourceError(
                f"{self.shown} could not be read: {reason} Look at its line ends, its quotes and the values "
                "of the columns that others are computed from."
            ) from error
        self._refuse_rejects()
        return int(rows)

    def refuse_fractions(self, types: Mapping[str, str]) -> None:
        """Refuse 1.5 where a whole number was declared: DuckDB would round it."""
        whole = [identifier(name) for name, kind in types.items() if kind in WHOLE_NUMBERS]
        if not whole:
            return
        listed = ", ".join(whole)
        texts = self._reader(dict.fromkeys(types, "varchar"))
        fraction = self.connection.execute(
            f"with texts as (select row_number() over () as row, {listed} from {texts}),"
            f" suspects as (select * from texts where regexp_matches(concat_ws(' ', {listed}), '[.eE]'))"
            f" select row, name, value from (unpivot suspects on {listed})"
            " where try_cast(value as double) <> try_cast(value as bigint) order by row limit 1"
        ).fetchone()
        self._forget_rejects()
        if fraction:
            row, column, value = fraction
            raise SourceError(
                f"{self.shown} is not what was declared: row {row}, column {column}: {value!r} is no whole "
                "number. Declare the column as double or decimal, or ask the source."
            )

    def _reader(self, types: Mapping[str, str]) -> str:
        columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
        return (
            f"read_csv({literal(self.file)}, columns = {{{columns}}}, auto_detect = false, header = true,"
            f" delim = ',', quote = '\"', escape = '\"', nullstr = {literal(self.null_value)},"
            f" store_rejects = true, rejects_limit = {REJECTS_LIMIT})"
        )

    def _forget_rejects(self) -> None:
        self.connection.execute("drop table if exists reject_errors; drop table if exists reject_scans")

    def _refuse_rejects(self) -> None:
        """Fail with the lines DuckDB could not read."""
        rejects = self.connection.execute(
            "select line, any_value(column_name), any_value(error_type), any_value(error_message),"
            " any_value(csv_line) from reject_errors"
            " group by line, if(error_type = 'CAST', column_name, '') order by line"
        ).fetchall()
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
