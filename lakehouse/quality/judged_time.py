"""The time that freshness is relative to: a partition's end, or now by the project's clock."""

from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from lakehouse.clock import Grain, next_partition

if TYPE_CHECKING:
    from lakehouse.settings import Settings


def judged_at(partition: date | None, grain: Grain, timezone: str, settings: "Settings") -> datetime:
    """When a partition ends by its own clock; without partitions, now.

    A partition that has not ended is judged as of now.
    """
    now = datetime.now(UTC)
    if settings.today is not None:
        now = datetime.combine(settings.today, time(), ZoneInfo(timezone))
    if partition is None:
        return now
    after = next_partition(partition, grain)
    return min(datetime.combine(after, time(), ZoneInfo(timezone)), now)
