"""Dagster's partition keys and the dates they stand for."""

from collections.abc import Iterator, Sequence
from datetime import date

import dagster as dg

from lakehouse.clock import days_there_are, months_of
from lakehouse.settings import Settings


def days_and_months(
    first: date, end: date | None, timezone: str, settings: Settings
) -> tuple[dg.DailyPartitionsDefinition, dg.MonthlyPartitionsDefinition]:
    """The calendar of a lakehouse, until today and no more than the sample where the settings say so.

    Args:
        end: the day after the last; None where days come as they pass.

    Raises:
        ValueError: `LAKEHOUSE_TODAY` is before the data begins.
    """
    days = days_there_are(first, end, settings)
    (start, stop), (first_month, end_of_months) = days, months_of(*days)
    return (
        dg.DailyPartitionsDefinition(
            start.isoformat(), end_date=stop.isoformat() if stop else None, timezone=timezone
        ),
        dg.MonthlyPartitionsDefinition(
            first_month.isoformat(),
            end_date=end_of_months.isoformat() if end_of_months else None,
            timezone=timezone,
        ),
    )


def partition_dates(context: dg.AssetExecutionContext) -> list[date]:
    """The first day of each partition of the run: one, or each of a range."""
    return [date.fromisoformat(key) for key in sorted(context.partition_keys)]


def chunks(partitions: Sequence[date], size: int) -> Iterator[Sequence[date]]:
    """Cut a range into the pieces that are committed together."""
    for start in range(0, len(partitions), size):
        yield partitions[start : start + size]
