"""Which days there are: `LAKEHOUSE_TODAY` holds the clock still, `LAKEHOUSE_SAMPLE` keeps the last few."""

from datetime import date, timedelta

from lakehouse.settings import Settings


def days_there_are(first: date, end: date, settings: Settings) -> tuple[date, date]:
    """The first of a calendar's days that count, and the day after the last.

    Args:
        end: the day after the calendar's last.

    Raises:
        ValueError: today is not after the first day.
    """
    if settings.today is not None:
        if settings.today <= first:
            raise ValueError(
                f"LAKEHOUSE_TODAY is {settings.today}, but the first day of the data is {first}: "
                "none of it has passed. Set a later day, or none."
            )
        end = min(end, settings.today)
    if settings.sample is not None:
        first = max(first, end - settings.sample)
    return first, end


def months_of(first: date, end: date) -> tuple[date, date]:
    """The months that days are of, the last as far as it has come: its first day, and the day after it."""
    last = end - timedelta(days=1)
    return first.replace(day=1), (last.replace(day=1) + timedelta(days=32)).replace(day=1)
