"""The partitions of this lakehouse: the local days of 2013 in New York, and their months."""

from datetime import date

from lakehouse.orchestration.partitions import days_and_months
from lakehouse.settings import Settings

DAYS, MONTHS = days_and_months(date(2013, 1, 1), date(2014, 1, 1), "America/New_York", Settings())
