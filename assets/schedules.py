"""When what is run in this lakehouse, by New York's clock: each is off until someone turns it on."""

from collections.abc import Sequence

import dagster as dg

from assets.partitions import DAYS, MONTHS
from lakehouse.orchestration.maintenance import maintenance_schedule
from lakehouse.orchestration.schedules import catch_up_schedule, whole_schedule

ZONE = DAYS.timezone


def schedules(assets: Sequence[object]) -> list[dg.ScheduleDefinition]:
    """The day's facts once its files are there, reference tables before them, months after them."""
    return [
        whole_schedule("nightly_reference", assets, "30 0 * * *", ZONE),
        catch_up_schedule("daily_facts", assets, "0 3 * * *", DAYS),
        catch_up_schedule("monthly_facts", assets, "0 5 1 * *", MONTHS),
        maintenance_schedule("0 4 * * 0", ZONE),
    ]
