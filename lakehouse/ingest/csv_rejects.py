"""The rows of a CSV file that DuckDB could not read: named in a message, or set aside as they are."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse.ingest.csv_lines import is_cut_off, lines_at
from lakehouse.ingest.encoding import escaped
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import Extraction
from lakehouse.storage.sql import literal

# A message shows the first few; a broken export breaks every line the same way.
SHOWN_REJECTS = 3
REJECTS_LIMIT = 100
NO_LIMIT = 0
SHOWN_TEXT = 200  # characters of a line
SHOWN_VALUE = 60  # of a value
ENCODING = "INVALID ENCODING"
LINES = "csv_reject_lines"


@dataclass(frozen=True)
class Rejects:
    """What the last reading of a file with `store_rejects` left out.

    Args:
        shown: how messages name the file.
        delimiter: what separates its values.
    """

    extraction: Extraction
    file: Path
    shown: Path
    delimiter: str

    def forget(self) -> None:
        """Forget what a reading left out, before the next."""
        self.extraction.connection.execute(
            "drop table if exists reject_errors; drop table if exists reject_scans"
        )

    def __bool__(self) -> bool:
        return bool(self._find("select 1 from reject_errors limit 1"))

    def lines(self) -> Mapping[int, int]:
        """The line on which each row left out begins, by the position that DuckDB says."""
        found = self._find("select distinct line_byte_position from reject_errors")
        return lines_at(self.file, (position for (position,) in found)) if found else {}

    def refuse(self) -> None:
        """Fail if there are any.

        Raises:
            SourceError: the first few, by line, column and value.
        """
        found = self._find(
            "select line_byte_position, any_value(column_name), any_value(error_type),"
            " any_value(error_message), any_value(csv_line), any_value(byte_position) from reject_errors"
            " group by line_byte_position, if(error_type = 'CAST', column_name, '')"
            " order by line_byte_position, any_value(error_type) = 'CAST'"
        )
        if not found:
            return
        lines = lines_at(self.file, {position for position, *_ in found[:SHOWN_REJECTS]})
        said = [self._say(lines[position], *reject) for position, *reject in found[:SHOWN_REJECTS]]
        others = f"{'at least ' if len(found) >= REJECTS_LIMIT else ''}{len(found) - SHOWN_REJECTS}"
        more = f" (and {others} more)" if len(found) > SHOWN_REJECTS else ""
        hint = " The file ends there: is it cut off?" if is_cut_off(self.file, max(lines.values())) else ""
        raise SourceError(f"{self.shown} is not what was declared: {'; '.join(said)}{more}.{hint}")

    def _say(self, line: int, column: str | None, kind: str, message: str, text: str, position: int) -> str:
        if kind == "CAST":
            return f"line {line}, column {column}: {message}"
        if kind == ENCODING:
            rest = self._bytes(position, len(text.encode())).decode("latin-1")
            value = next(csv.reader([rest], delimiter=self.delimiter), [""])[0][:SHOWN_VALUE]
            return (
                f"line {line}, column {column}: '{escaped(value.encode('latin-1'))}' is not UTF-8; in latin1"
                f" it would be '{value}'. Convert the file, for instance with `iconv -f latin1 -t utf-8`"
            )
        return f"line {line}: {message} in {text[:SHOWN_TEXT]!r}"

    def _bytes(self, position: int, count: int) -> bytes:
        """Bytes of the file from a position on, the first of which is 1."""
        with self.file.open("rb") as opened:
            opened.seek(position - 1)
            return opened.read(count)

    def _undecoded(self) -> Mapping[int, str]:
        """The rows that are not UTF-8, by position: DuckDB puts `?` for what it cannot decode."""
        found = self._find(
            "select line_byte_position, any_value(octet_length(encode(csv_line))) from reject_errors"
            f" where error_type = {literal(ENCODING)} group by all"
        )
        return {position: escaped(self._bytes(position, count)).strip("\r\n") for position, count in found}

    def set_aside(self) -> None:
        """Put them into quarantine, as they are."""
        import pyarrow as pa  # type: ignore[import-untyped]

        lines, connection = self.lines(), self.extraction.connection
        undecoded = self._undecoded()
        connection.register(
            LINES,
            pa.table(
                {
                    "position": [*lines.keys()],
                    "line": pa.array(lines.values(), pa.int64()),
                    "undecoded": pa.array(map(undecoded.get, lines), pa.string()),
                }
            ),
        )
        self.extraction.quarantined.add(
            self.extraction.partition,
            "select null as column_name, null as value, 'unreadable' as rule,"
            " any_value(error_message) as reason,"
            f" any_value(coalesce(undecoded, csv_line)) as raw, {literal(self.shown)} as source_file,"
            f" {LINES}.line as source_row"
            f" from reject_errors join {LINES} on position = line_byte_position"
            f" group by {LINES}.line order by {LINES}.line",
        )
        connection.unregister(LINES)

    def _find(self, query: str) -> list[tuple[Any, ...]]:
        return self.extraction.connection.execute(query).fetchall()
