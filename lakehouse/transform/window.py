"""The partitions that one dbt invocation builds.

They come in through the environment, not through dbt's `--vars`: a changed variable makes dbt
parse the whole project again.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from lakehouse.clock import Grain, next_partition

START = "LAKEHOUSE_PARTITION_START"
END = "LAKEHOUSE_PARTITION_END"


@dataclass(frozen=True)
class Window:
    """A range of days, its end excluded."""

    start: date
    end: date

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise ValueError(f"{START} ({self.start}) must be before {END} ({self.end}).")

    def partitions(self, grain: Grain) -> list[date]:
        """The first day of each partition.

        Raises:
            ValueError: the window cuts a month in two.
        """
        if grain == "month" and (self.start.day != 1 or self.end.day != 1):
            raise ValueError(f"A monthly model needs whole months; {self.start} to {self.end} is not.")
        days = (self.start + timedelta(days) for days in range((self.end - self.start).days))
        return [day for day in days if grain == "day" or day.day == 1]


def chunks(partitions: Sequence[date], grain: Grain, size: int) -> Iterator[list[date]]:
    """Cut partitions into the pieces that are committed together: without a gap, and not too long."""
    chunk: list[date] = []
    for partition in partitions:
        if chunk and (len(chunk) == size or next_partition(chunk[-1], grain) != partition):
            yield chunk
            chunk = []
        chunk.append(partition)
    if chunk:
        yield chunk


def read_window() -> Window | None:
    """The window of this process, None to build whole tables.

    Raises:
        ValueError: only one end is set, or one is not a date.
    """
    start, end = os.environ.get(START), os.environ.get(END)
    if not start and not end:
        return None
    if not start or not end:
        raise ValueError(f"Set both {START} and {END}, or neither.")
    return Window(date.fromisoformat(start), date.fromisoformat(end))
