"""The text of an alert: what is wrong, by table and check, who owns it, what to do, where to look."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lakehouse.alerts.outcome import Finding, Kind, TableOutcome
from lakehouse.quality.refused import refused_view

SHOWN_PARTITIONS = 5  # a backfill may fail 365 of them for one reason
LONGEST = 500  # characters of one reason; some chat services cut a message at 2,000
SEVERITIES = ("critical", "error", "warning")


@dataclass(frozen=True)
class Message:
    """One alert.

    Args:
        severity: critical, error or warning.
    """

    title: str
    body: str
    severity: str


def message_of(tables: Sequence[TableOutcome], run_id: str, dagster_url: str) -> Message:
    """One message about the tables of one owner."""
    severity = min((table.severity for table in tables), key=SEVERITIES.index)
    more = f" (and {_count(len(tables) - 1, 'more table')})" if len(tables) > 1 else ""
    worst = min(tables, key=lambda table: SEVERITIES.index(table.severity))
    title = f"[{severity}] {_headline(worst)}{more}"
    sections = ["\n".join(_section(table, run_id, named=len(tables) > 1)) for table in tables]
    sections.append(f"Run: {dagster_url.rstrip('/')}/runs/{run_id}")
    return Message(title, "\n\n".join(sections), severity)


def _headline(table: TableOutcome) -> str:
    lost = table.of(Kind.NOT_PUBLISHED)
    if lost and [one.partition for one in lost] != [""]:
        total = len(table.published | {one.partition for one in lost})
        return f"{table.table}: {len(lost)} of {_count(total, 'partition')} {_were(len(lost))} not published"
    if lost:
        return f"{table.table} was not published"
    if table.of(Kind.STEP):
        return f"{table.table}: the step failed"
    if failed := {one.subject for one in table.of(Kind.CHECK)}:
        return f"{table.table}: {_count(len(failed), 'check')} failed"
    if aside := sum(one.rows for one in table.of(Kind.QUARANTINE)):
        return f"{table.table}: {_count(aside, 'row')} {_were(aside)} set aside in quarantine"
    return f"{table.table}: {_count(len({one.subject for one in table.findings}), 'check')} warned"


def _section(table: TableOutcome, run_id: str, *, named: bool) -> Iterator[str]:
    if named:  # else the title says it
        yield f"{_headline(table)}."
    tier = f", tier {table.tier}" if table.tier else ""
    yield f"Owner: {table.owner}{tier}"
    failed = table.of(Kind.CHECK)
    explained = {one.partition for one in failed}
    yield from _group(
        "Not published", [x for x in table.of(Kind.NOT_PUBLISHED) if x.partition not in explained]
    )
    yield from _checks("failed", failed)
    yield from _group("The step failed", table.of(Kind.STEP))
    yield from _group("In quarantine", table.of(Kind.QUARANTINE))
    yield from _checks("warned", table.of(Kind.WARNING))
    yield from _next(table, run_id)


def _checks(outcome: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Each check once, with its partitions."""
    for subject, same in groupby(sorted(findings, key=lambda one: one.subject), key=lambda one: one.subject):
        found = list(same)
        meaning = f": {found[0].meaning}" if found[0].meaning else ""
        yield from _group(f"{subject} {outcome}{meaning}", found)


def _group(heading: str, findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield f"- {heading}"
    for one in findings[:SHOWN_PARTITIONS]:
        said = _cut(one.said)
        yield "    " + (": ".join(part for part in (one.partition, said) if part) or "the whole table")
    if len(findings) > SHOWN_PARTITIONS:
        yield f"    and {len(findings) - SHOWN_PARTITIONS} more"


def _next(table: TableOutcome, run_id: str) -> Iterator[str]:
    """Commands that show the rows."""
    if table.refused:
        sql = f"select * from {refused_view(table.table)} where run_id = '{run_id}'"
        yield f'Rows that were refused: lakehouse query "{sql}"'
    if table.of(Kind.QUARANTINE):
        yield f"Rows in quarantine: lakehouse quarantine show {table.table}"


def _cut(said: str) -> str:
    one_line = " ".join(said.split())
    return one_line if len(one_line) <= LONGEST else one_line[: LONGEST - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
