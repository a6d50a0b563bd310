"""How fresh each table is, by tier: what is there, when it was written, and what was promised."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lakehouse.operations.report.dimensions import dimension_of
from lakehouse.operations.report.evaluations import Evaluation, Outcome
from lakehouse.operations.report.project import ProjectTable
from lakehouse.overview import Overview

HOURS_PER_DAY = 24
SECONDS_PER_HOUR = 3600
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Freshness:
    """How fresh one table is.

    Args:
        newest: the last partition that was built, if it has any.
        written: when, in UTC; None: never.
        promised: by the contract, in words.
        outcome: the worst of what its checks of freshness came to last; None: there are none.
        note: what a check says that did not pass.
    """

    table: ProjectTable
    newest: str | None
    written: datetime | None
    promised: str
    outcome: Outcome | None
    note: str = ""

    def age(self, now: datetime) -> str:
        """How long ago it was written, as a person says it."""
        if self.written is None:
            return "never"
        hours = (now - self.written).total_seconds() / SECONDS_PER_HOUR
        if hours < 1:
            return "in the last hour"
        if hours < 2 * HOURS_PER_DAY:
            return f"{hours:.0f} h ago"
        return f"{hours / HOURS_PER_DAY:,.0f} days ago"


def freshness_by_tier(
    tables: Mapping[str, ProjectTable],
    overviews: Mapping[str, Overview],
    evaluations: Iterable[Evaluation],
) -> dict[int, list[Freshness]]:
    """The tables of each tier; those that are late first, then the longest not written."""
    evaluations = list(evaluations)
    refused = {(one.table, one.partition) for one in evaluations if "not_published" in one.details}
    newest: dict[str, str] = {}
    judged: dict[str, dict[str, Evaluation]] = {}
    for one in evaluations:
        if one.partition and (one.table, one.partition) not in refused:
            newest[one.table] = max(newest.get(one.table, ""), one.partition)
        if dimension_of(one.check) == "freshness":
            last = judged.setdefault(one.table, {}).get(one.check)
            if last is None or (one.partition or "", one.at) > (last.partition or "", last.at):
                judged[one.table][one.check] = one
    found: dict[int, list[Freshness]] = {}
    for name, table in sorted(tables.items(), key=lambda item: (item[1].tier, item[0])):
        fresh = _freshness(table, overviews.get(name), newest.get(name), [*judged.get(name, {}).values()])
        found.setdefault(table.tier, []).append(fresh)
    for each in found.values():
        each.sort(key=lambda one: (one.outcome in (None, "passed"), one.written or NEVER))
    return found


def _freshness(
    table: ProjectTable, overview: Overview | None, newest: str | None, judged: Sequence[Evaluation]
) -> Freshness:
    bad = [one for one in judged if one.outcome != "passed"]
    worst = next((one for one in bad if one.outcome == "failed"), bad[0] if bad else None)
    written = overview.last_written if overview else None
    return Freshness(
        table,
        newest,
        datetime.fromisoformat(written) if written else None,
        _promised(table),
        worst.outcome if worst else "passed" if judged else None,
        str(worst.details.get("note") or worst.details.get("not_evaluated") or "") if worst else "",
    )


def _promised(table: ProjectTable) -> str:
    said = table.contract.freshness if table.contract else {}
    words = []
    if (hours := said.get("due_within_hours")) is not None:
        words.append(f"each partition {hours:g} h after its end")
    if (hours := said.get("loaded_within_hours")) is not None:
        words.append(f"a load every {hours:g} h")
    return ", ".join(words) or "nothing"
