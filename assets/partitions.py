"""The partitions of this lakehouse: the local days of 2013 in New York, and their months."""

import dagster as dg

NEW_YORK = "America/New_York"

DAYS = dg.DailyPartitionsDefinition("2013-01-01", end_date="2014-01-01", timezone=NEW_YORK)
MONTHS = dg.MonthlyPartitionsDefinition("2013-01-01", end_date="2014-01-01", timezone=NEW_YORK)
