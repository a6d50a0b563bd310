"""Days and months, and which there are by `LAKEHOUSE_TODAY` and `LAKEHOUSE_SAMPLE`.

The one holds the clock still, the other keeps the last few days.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Literal

from lakehouse.settings import Settings

Grain = Literal["day", "month"]


def next_partition(partition: date, grain: Grain) -> date:
    """The first day after a partition."""
    if grain == "day":
        return partition + timedelta(days=1)
    return (partition.replace(day=1) + timedelta(days=32)).replace(day=1)


def days_there_are(first: date, end: date | None, settings: Settings) -> tuple[date, date | None]:
    """The first of a calendar's days that count, and the day after the last.

    Args:
        end: the day after the calendar's last; None where days come as they pass.

    Raises:
        ValueError: today is not after the first day.
    """
    today = settings.today
    if today is not None:
        if today <= first:
            raise ValueError(
                f"LAKEHOUSE_TODAY is {today}, but the first day of the data is {first}: "
                "none of it has passed. Set a later day, or none."
            )
        end = min(end, today) if end else today
    if settings.sample is not None:
        first = max(first, (end or datetime.now(UTC).date()) - settings.sample)
    return first, end


def months_of(first: date, end: date | None) -> tuple[date, date | None]:
    """The months that days are of, a running one too: the first's first day, and the day after the last's."""
    if end is None:
        return first.replace(day=1), None
    last = end - timedelta(days=1)
    return first.replace(day=1), next_partition(last, "month")
