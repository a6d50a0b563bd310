"""What is judged of a table as a whole and by the clock: its gaps, and whether what is due is there.

A partition's own checks say nothing of this: one that never came has none, and an old one that is
built again is as good as it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from lakehouse.clock import Grain, next_partition
from lakehouse.quality.check_result import FAILED, NOT_EVALUATED, PASSED, CheckResult
from lakehouse.quality.contract import Contract
from lakehouse.quality.gates import rows_by_partition
from lakehouse.storage.history import read_history

if TYPE_CHECKING:
    from pyiceberg.table import Table

GAPS = "completeness_missing_partitions"
DUE = "freshness_due_partition"
LAST_LOAD = "freshness_last_load"
SHOWN_PARTITIONS = 5
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Calendar:
    """The partitions of a table.

    Args:
        ended: the first day of each that has ended by now, in order.
    """

    grain: Grain
    ended: Sequence[date]


def table_checks(contract: Contract, *, partitioned: bool) -> Mapping[str, str]:
    """The checks of a table as a whole, by name, each with what it is for people."""
    checks = {}
    if partitioned and not contract.gates.get("may_be_empty", False):
        checks[GAPS] = "No partition is missing between the first and the last that there are (warns)"
    if partitioned and (hours := contract.freshness.get("due_within_hours")) is not None:
        checks[DUE] = f"Every partition is there {hours:g} hours after its end (warns)"
    if (hours := contract.freshness.get("loaded_within_hours")) is not None:
        checks[LAST_LOAD] = f"The table was loaded in the last {hours:g} hours (warns)"
    return checks


def judge_table(
    contract: Contract, table: "Table | None", calendar: Calendar | None, now: datetime
) -> dict[str, CheckResult]:
    """The table's checks, by name; of one that was never built, that they could not be evaluated.

    Args:
        now: by the project's clock.
    """
    names = table_checks(contract, partitioned=calendar is not None)
    if table is None or table.current_snapshot() is None:
        note = f"{contract.table} was never built"
        return {name: CheckResult(name, NOT_EVALUATED, False, note=note) for name in names}
    results = {}
    if calendar is not None:
        published = {partition for partition, rows in rows_by_partition(table).items() if rows}
        results[GAPS] = _gaps(published, calendar)
        if DUE in names:
            hours = contract.freshness["due_within_hours"]
            results[DUE] = _due(published, calendar, contract.timezone, hours, now)
    if LAST_LOAD in names:
        results[LAST_LOAD] = _last_load(table, contract.freshness["loaded_within_hours"], now)
    return {name: result for name, result in results.items() if name in names}


def _gaps(published: set[date], calendar: Calendar) -> CheckResult:
    first, last = min(published, default=date.max), max(published, default=date.min)
    missing = [day for day in calendar.ended if first <= day <= last and day not in published]
    return CheckResult(
        GAPS,
        FAILED if missing else PASSED,
        False,
        float(len(missing)),
        "must be 0",
        {"partitions": float(len(published))},
        f"missing are {_some(missing)}: materialize them" if missing else "",
    )


def _due(published: set[date], calendar: Calendar, timezone: str, hours: float, now: datetime) -> CheckResult:
    """Whether what is due by now is there; the newest says it, so that an old one changes nothing."""

    def end(partition: date) -> datetime:
        after = next_partition(partition, calendar.grain)
        return datetime.combine(after, time(), ZoneInfo(timezone)).astimezone(UTC)

    newest = max(published, default=None)
    later = [day for day in calendar.ended if newest is None or day > newest]
    late = [day for day in later if now - end(day) > hours * HOUR]
    waited = (now - end(later[0])) / HOUR if later else 0.0
    return CheckResult(
        DUE,
        FAILED if late else PASSED,
        False,
        max(waited, 0.0),
        f"must be less than or equal {hours:g}",
        {"late_partitions": float(len(late))},
        f"{_some(late)} should be there by now; the newest partition is {newest or 'none'}" if late else "",
    )


def _last_load(table: "Table", hours: float, now: datetime) -> CheckResult:
    # What retention drops is older than what is kept, so that the newest write is always known.
    loads = [entry.committed for entry in read_history(table) if entry.rows_written is not None]
    if not loads:
        return CheckResult(LAST_LOAD, NOT_EVALUATED, False, note="nothing tells when it was last loaded")
    age = max((now - max(loads).astimezone(UTC)) / HOUR, 0.0)
    good = age <= hours
    return CheckResult(
        LAST_LOAD,
        PASSED if good else FAILED,
        False,
        age,
        f"must be less than or equal {hours:g}",
        note="" if good else f"the last load was {age:.1f} hours ago, and {hours:g} are allowed",
    )


def _some(partitions: Sequence[date]) -> str:
    shown = ", ".join(map(str, partitions[:SHOWN_PARTITIONS]))
    more = len(partitions) - SHOWN_PARTITIONS
    return f"{shown} and {more} more" if more > 0 else shown
