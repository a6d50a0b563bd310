"""The time that freshness is relative to: a partition's end, or now by the project's clock."""

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from lakehouse.clock import Grain, next_partition

if TYPE_CHECKING:
    from lakehouse.settings import Settings


def now_by(settings: "Settings", timezone: str) -> datetime:
    """Now, or the midnight at which the project's clock stands still."""
    if settings.today is not None:
        return datetime.combine(settings.today, time(), ZoneInfo(timezone))
    return datetime.now(UTC)


def judged_at(partition: date | None, grain: Grain, timezone: str, settings: "Settings") -> datetime:
    """When a partition ends by its own clock; without partitions, now.

    A partition that has not ended is judged as of now.
    """
    now = now_by(settings, timezone)
    if partition is None:
        return now
    after = next_partition(partition, grain)
    return min(datetime.combine(after, time(), ZoneInfo(timezone)), now)
