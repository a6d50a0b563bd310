"""The partitions of this lakehouse: the local days of 2013 in New York, and their months."""

from datetime import date

import dagster as dg

from lakehouse.clock import days_there_are, months_of
from lakehouse.settings import Settings

NEW_YORK = "America/New_York"

_FIRST, _END = days_there_are(date(2013, 1, 1), date(2014, 1, 1), Settings())
_FIRST_MONTH, _END_OF_MONTHS = months_of(_FIRST, _END)

DAYS = dg.DailyPartitionsDefinition(_FIRST.isoformat(), end_date=_END.isoformat(), timezone=NEW_YORK)
MONTHS = dg.MonthlyPartitionsDefinition(
    _FIRST_MONTH.isoformat(), end_date=_END_OF_MONTHS.isoformat(), timezone=NEW_YORK
)
