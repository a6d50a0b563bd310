"""Collects what the report says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from lakehouse.operations.report import scores
from lakehouse.operations.report.evaluations import Evaluation, latest_evaluations
from lakehouse.operations.report.findings import Finding, findings
from lakehouse.operations.report.freshness import Freshness, freshness_by_tier
from lakehouse.operations.report.profiles import Profile, read_profiles
from lakehouse.operations.report.project import ProjectTable, project_tables
from lakehouse.operations.report.quarantine import HeldRows, held_rows
from lakehouse.overview import Overview, read_overviews
from lakehouse.query_errors import QueryError

if TYPE_CHECKING:
    import dagster as dg

    from lakehouse.settings import Settings


@dataclass(frozen=True)
class Report:
    """All that the page shows.

    Args:
        score: of the lakehouse; None: nothing was judged yet.
        by_day: the score of each day's data.
        past: the score of earlier reports.
        trouble: a sentence for each part that could not be read.
    """

    made: datetime
    score: float | None
    tables: Sequence[scores.TableScore]
    by_day: Sequence[tuple[date, float]]
    past: Sequence[tuple[datetime, float]]
    findings: Sequence[Finding]
    overviews: Mapping[str, Overview]
    freshness: Mapping[int, Sequence[Freshness]]
    quarantine: Sequence[HeldRows]
    profiles: Sequence[Profile]
    evaluations: int
    trouble: Sequence[str]

    @property
    def failed(self) -> int:
        """Checks that failed."""
        return sum(finding.outcome == "failed" for finding in self.findings)

    @property
    def warned(self) -> int:
        """Checks that warned."""
        return len(self.findings) - self.failed

    @property
    def rows_in_quarantine(self) -> int:
        """Rows that are in no table."""
        return sum(held.rows for held in self.quarantine)


def collect(
    settings: "Settings",
    instance: "dg.DagsterInstance",
    defs: "dg.Definitions",
    past: Sequence[tuple[datetime, float]] = (),
) -> Report:
    """Collect what the report says, of the project's tables and of checks that they have now.

    Args:
        past: the score of earlier reports, the oldest first.
    """
    tables = project_tables(defs, settings.contracts_dir)
    judged = _of_checks_there_are(latest_evaluations(instance), tables)
    overviews, trouble = read_overviews(settings)
    by_name = {overview.name: overview for overview in overviews}
    held, profiles = _quarantine(settings, trouble), _profiles(settings, tables, trouble)
    scored = scores.table_scores(tables, judged)
    made, score = datetime.now(UTC), scores.overall(scored)
    return Report(
        made=made,
        score=score,
        tables=scored,
        by_day=scores.scores_by_day(tables, judged),
        past=[*past, *([] if score is None else [(made, score)])],
        findings=findings(tables, judged),
        overviews=by_name,
        freshness=freshness_by_tier(tables, by_name, judged),
        quarantine=held,
        profiles=profiles,
        evaluations=len(judged),
        trouble=trouble,
    )


def _of_checks_there_are(
    evaluations: Sequence[Evaluation], tables: Mapping[str, ProjectTable]
) -> list[Evaluation]:
    """Without checks that were renamed or removed, which would fail for ever."""
    return [one for one in evaluations if one.table in tables and one.check in tables[one.table].checks]


def _quarantine(settings: "Settings", trouble: list[str]) -> list[HeldRows]:
    try:
        return held_rows(settings)
    except QueryError as error:
        trouble.append(str(error))
        return []


def _profiles(settings: "Settings", tables: Mapping[str, ProjectTable], trouble: list[str]) -> list[Profile]:
    try:
        return read_profiles(settings, tables)
    except QueryError as error:
        trouble.append(str(error))
        return []
