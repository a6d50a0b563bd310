"""The quality score: how it is computed of what the checks came to.

An evaluation is worth 100 if it passed, 50 if it warned, 0 if it failed or could not be made. One that had
too little to compare with is no part of it. A check is worth the mean of its partitions, a dimension the
mean of its checks, a table the mean of its dimensions, so that twenty checks of validity do not hide one of
freshness. The lakehouse is worth the mean of its tables, in which one of tier 1 counts three times, one of
tier 2 twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean

from lakehouse.clock import next_partition
from lakehouse.operations.report.dimensions import Dimension, dimension_of
from lakehouse.operations.report.evaluations import Evaluation, Outcome
from lakehouse.operations.report.project import LOWEST_TIER, ProjectTable

WORTH: Mapping[Outcome, float] = {"passed": 100.0, "warned": 50.0, "failed": 0.0}


@dataclass(frozen=True)
class Cell:
    """One dimension of one table.

    Args:
        checks: how many were evaluated.
        evaluations: of all partitions.
    """

    score: float
    checks: int
    evaluations: int
    warned: int
    failed: int

    @property
    def state(self) -> Outcome:
        """The worst that there is."""
        return "failed" if self.failed else "warned" if self.warned else "passed"


@dataclass(frozen=True)
class TableScore:
    """A table's score, and what it is made of; None: nothing was judged.

    Args:
        unjudged: evaluations that had too little to compare with, which are no part of a score.
    """

    table: ProjectTable
    score: float | None
    cells: Mapping[Dimension, Cell]
    unjudged: Mapping[Dimension, int]

    @property
    def failed(self) -> int:
        """Evaluations that failed."""
        return sum(cell.failed for cell in self.cells.values())

    @property
    def warned(self) -> int:
        """Evaluations that warned."""
        return sum(cell.warned for cell in self.cells.values())


def table_scores(tables: Mapping[str, ProjectTable], evaluations: Iterable[Evaluation]) -> list[TableScore]:
    """The tables' scores, the worst first and those that nothing was judged of last."""
    by_table: defaultdict[str, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        by_table[evaluation.table].append(evaluation)
    scores = [_table_score(table, by_table.get(name, [])) for name, table in tables.items()]
    return sorted(scores, key=lambda one: (one.score is None, one.score or 0, -one.failed, one.table.name))


def overall(scores: Iterable[TableScore]) -> float | None:
    """The lakehouse's score; None: nothing was judged."""
    judged = [(one.score, weight(one.table.tier)) for one in scores if one.score is not None]
    return sum(s * w for s, w in judged) / sum(w for _, w in judged) if judged else None


def weight(tier: int) -> int:
    """How often a table of this tier counts."""
    return LOWEST_TIER + 1 - tier


def scores_by_day(
    tables: Mapping[str, ProjectTable], evaluations: Iterable[Evaluation]
) -> list[tuple[date, float]]:
    """The score of each day's data, of its partitions alone; a month counts for each of its days.

    A day that only months are of is left out: nothing of its own was judged.
    """
    days: defaultdict[date, list[Evaluation]] = defaultdict(list)
    months: defaultdict[date, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        if (day := _day(evaluation)) is not None:
            kept = months if tables[evaluation.table].monthly else days
            kept[day].append(evaluation)
    by_day: Mapping[date, list[Evaluation]] = days or {day: [] for month in months for day in _days_of(month)}
    found = []
    for day in sorted(by_day):
        of_day = [*by_day[day], *months.get(day.replace(day=1), [])]
        score = overall(table_scores({one.table: tables[one.table] for one in of_day}, of_day))
        if score is not None:
            found.append((day, score))
    return found


def _days_of(month: date) -> list[date]:
    return [month + timedelta(days=n) for n in range((next_partition(month, "month") - month).days)]


def _day(evaluation: Evaluation) -> date | None:
    try:
        return date.fromisoformat(evaluation.partition or "")
    except ValueError:  # the whole table, or a partition that is no day
        return None


def _table_score(table: ProjectTable, evaluations: Sequence[Evaluation]) -> TableScore:
    checks: defaultdict[Dimension, defaultdict[str, list[Evaluation]]] = defaultdict(
        lambda: defaultdict(list)
    )
    unjudged: Counter[Dimension] = Counter()
    for evaluation in evaluations:
        dimension = dimension_of(evaluation.check)
        if evaluation.judged:
            checks[dimension][evaluation.check].append(evaluation)
        else:
            unjudged[dimension] += 1
    cells = {dimension: _cell(of_checks) for dimension, of_checks in checks.items()}
    score = fmean(cell.score for cell in cells.values()) if cells else None
    return TableScore(table, score, cells, unjudged)


def _cell(checks: Mapping[str, Sequence[Evaluation]]) -> Cell:
    outcomes = [one.outcome for each in checks.values() for one in each]
    return Cell(
        score=fmean(fmean(WORTH[one.outcome] for one in each) for each in checks.values()),
        checks=len(checks),
        evaluations=len(outcomes),
        warned=outcomes.count("warned"),
        failed=outcomes.count("failed"),
    )
