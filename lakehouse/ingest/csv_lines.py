"""The lines of a CSV file as an editor counts them, where DuckDB counts rows.

The header is line 1, blank lines count, and a row whose quoted value has line ends in it takes more than one.
A file is only looked through for this when something in it is to be named.
"""

from collections import deque
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

ENDS = "\r\n"


def lines_at(file: Path, positions: Iterable[int]) -> dict[int, int]:
    """The line of the row that begins at each position, a byte from 1 on, or after the blank lines there."""
    found: dict[int, int] = {}
    waiting = deque(sorted(positions))
    end = 0
    for number, line in enumerate(_lines(file), start=1):
        start, end = end, end + len(line)
        while waiting and waiting[0] <= end and line[max(waiting[0] - 1 - start, 0) :].strip(ENDS):
            found[waiting.popleft()] = number
    return found


def lines_of_rows(file: Path, delimiter: str, left_out: Container[int] = ()) -> Iterator[int]:
    """The line on which each row begins, the header left out.

    Args:
        left_out: lines on which a row begins that does not count.
    """
    is_open, is_header = False, True
    for number, line in enumerate(_lines(file), start=1):
        if not is_open:
            if not line.strip(ENDS):
                continue
            if not is_header and number not in left_out:
                yield number
            is_header = False
        is_open = _ends_open(line, delimiter, is_open=is_open)


def last_line(file: Path) -> tuple[int, str]:
    """The number and the text of a file's last line, a character a byte."""
    last, text = 0, ""
    for last, text in enumerate(_lines(file), start=1):  # noqa: B007  (the last is wanted)
        pass
    return last, text


def is_cut_off(file: Path, line: int) -> bool:
    """Whether this is a file's last line and nothing ends it."""
    last, text = last_line(file)
    return last == line and not text.endswith(("\r", "\n"))


def first_other_end(file: Path, delimiter: str) -> int | None:
    """The first line that ends otherwise than those before it, quoted line ends apart."""
    is_open, usual = False, None
    with file.open(encoding="latin-1", newline="") as lines:
        for number, line in enumerate(lines, start=1):
            is_open = _ends_open(line, delimiter, is_open=is_open)
            end = line[len(line.rstrip(ENDS)) :]
            if is_open or not end:
                continue
            if usual is None:
                usual = end
            elif end != usual:
                return number
    return None


def _lines(file: Path) -> Iterator[str]:
    """The lines, a character a byte, whatever the encoding."""
    with file.open("rb") as opened:
        first = opened.readline()
    only_returns = b"\r" in first.rstrip(b"\r\n")
    with file.open(encoding="latin-1", newline="\r" if only_returns else "\n") as lines:
        yield from lines


def _ends_open(line: str, delimiter: str, *, is_open: bool) -> bool:
    """Whether a quoted value goes on after a line.

    Args:
        is_open: whether it begins in one.
    """
    if '"' not in line:
        return is_open
    closed = False
    for number, before in enumerate(line.split('"')[:-1]):
        if is_open:
            is_open, closed = False, True
        else:
            # It opens where a value begins; two in a row, inside a quoted one, stand for one.
            is_open = before.endswith(delimiter) or (not before and (number == 0 or closed))
            closed = False
    return is_open
