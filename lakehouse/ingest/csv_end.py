"""The end of a CSV file: a last line that nothing ends may have lost the end of its last value.

A line cut off before its last value has too few of them and is refused as such. One cut off within it,
`120.00` that became `12`, is a row like any other: only the line end that is not there tells.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from lakehouse.ingest.csv_lines import last_line
from lakehouse.ingest.csv_rejects import SHOWN_VALUE
from lakehouse.ingest.encoding import escaped
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.incoming import Incoming
from lakehouse.ingest.source import Extraction
from lakehouse.quality.drift import Arrival
from lakehouse.quality.masking import hidden, masked_columns

OpenEnd = Literal["warn", "refuse", "accept"]


def judge_end(
    extraction: Extraction,
    file: Path,
    shown: Path,
    delimiter: str,
    columns: Sequence[Incoming],
    open_end: OpenEnd,
) -> None:
    """Tell of a last line that nothing ends, or refuse it.

    Args:
        shown: how messages name the file.
        columns: the file's, in its order.
        open_end: what such a line is taken for; of `warn` the check of the columns tells.

    Raises:
        SourceError: there is one, and it is to be refused.
    """
    if open_end == "accept" or _is_ended(file):
        return
    number, line = last_line(file)
    column = columns[-1]
    value = escaped(line.rpartition(delimiter)[2].encode("latin-1"))
    ending = hidden(value[:SHOWN_VALUE], column.name in masked_columns(extraction.source.contract))
    said = f"line {number}, the last one, has no line end, and ends in {ending!r}: is it cut off?"
    if open_end == "refuse":
        raise SourceError(
            f"{shown}: {said} Have it delivered again, or read the file with open_end='accept'."
        )
    kept = "" if column.declared else "is not declared, is kept, and "
    done = f"{kept}may lack its end in {shown}: {said}"
    extraction.arrivals.append(Arrival(column.name, str(column.brought), done, warns=True))


def _is_ended(file: Path) -> bool:
    with file.open("rb") as opened:
        opened.seek(-1, 2)
        return opened.read(1) in (b"\n", b"\r")
