"""The partitions of this lakehouse: all partitioned assets share one calendar."""

from datetime import date

from lakehouse.orchestration.partitions import days_and_months
from lakehouse.settings import Settings

FIRST_DAY = date(2026, 1, 1)
TIMEZONE = "UTC"  # where a day of your data begins

# Without an end, a day is a partition once it has passed.
DAYS, MONTHS = days_and_months(FIRST_DAY, None, TIMEZONE, Settings())
