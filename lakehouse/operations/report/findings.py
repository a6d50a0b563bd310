"""What needs attention: each check that did not pass, with numbers, reasons and a sample of rows."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakehouse.operations.report.dimensions import Dimension, dimension_of
from lakehouse.operations.report.evaluations import Evaluation, Outcome
from lakehouse.operations.report.project import ProjectTable
from lakehouse.orchestration.alert_findings import is_private, reason_for
from lakehouse.quality.contract import Contract
from lakehouse.quality.masking import MASKED, masked_columns

BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
SQL = re.compile(r"^```sql\n(.*)\n```$", re.DOTALL)


@dataclass(frozen=True)
class Sample:
    """The first failing rows, each value as text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Finding:
    """A check that did not pass, with what its newest such evaluation said.

    Args:
        partitions: on which it did not pass, in order; empty: the table as a whole.
        said: numbers and reasons, by what they are.
        sql: gives the failing rows.
    """

    table: ProjectTable
    check: str
    meaning: str
    outcome: Outcome
    partitions: Sequence[str]
    at: datetime
    run_id: str
    said: Mapping[str, str]
    sample: Sample | None
    sql: str

    @property
    def dimension(self) -> Dimension:
        """Of the check."""
        return dimension_of(self.check)


def findings(tables: Mapping[str, ProjectTable], evaluations: Iterable[Evaluation]) -> list[Finding]:
    """All checks that did not pass: errors before warnings, then by tier and by how many partitions."""
    bad: defaultdict[tuple[str, str], list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        if evaluation.outcome != "passed":
            bad[evaluation.table, evaluation.check].append(evaluation)
    found = [_finding(tables[table], check, each) for (table, check), each in bad.items()]
    return sorted(
        found,
        key=lambda one: (
            one.outcome != "failed",
            one.table.tier,
            -len(one.partitions),
            one.table.name,
            one.check,
        ),
    )


def _finding(table: ProjectTable, check: str, evaluations: Sequence[Evaluation]) -> Finding:
    failed = [one for one in evaluations if one.outcome == "failed"]
    shown = max(failed or evaluations, key=lambda one: (one.partition or "", one.at))
    sql = SQL.match(str(shown.details.get("failing_rows", "")))
    return Finding(
        table=table,
        check=check,
        meaning=table.checks.get(check, ""),
        outcome=shown.outcome,
        partitions=sorted(one.partition for one in evaluations if one.partition),
        at=shown.at,
        run_id=shown.run_id,
        said=_said(shown.details, table.contract, check),
        sample=_sample(shown.details.get("sample"), table.contract),
        sql=sql[1] if sql else "",
    )


def _said(details: Mapping[str, Any], contract: Contract | None, check: str) -> dict[str, str]:
    """What a person needs of what the check said; what may quote a row of persons is left to the run."""
    said = {}
    if "measured" in details and not is_private(contract, check):
        threshold = details.get("threshold", "")
        said["measured"] = f"{details['measured']:,.6g}, {threshold}".rstrip(", ")
    if "dagster_dbt/failed_row_count" in details:
        said["rows"] = f"{details['dagster_dbt/failed_row_count']:,}"
    if note := details.get("note") or details.get("not_evaluated"):
        said["note"] = str(note)
    if reason := details.get("not_published"):
        said["not published"] = reason_for(contract, str(reason))
    return said


def _sample(said: Any, contract: Contract | None) -> Sample | None:
    """The rows of the Markdown table that the check gave; masked by the contract as it is now."""
    lines = str(said or "").splitlines()
    if len(lines) <= 2:  # noqa: PLR2004  (a header and the line below it)
        return None
    columns, _, *rows = [_cells(line) for line in lines]
    masked = masked_columns(contract)
    hidden = [column in masked for column in columns]
    return Sample(
        columns,
        [
            [MASKED if hide and value != "null" else value for value, hide in zip(row, hidden, strict=False)]
            for row in rows
        ],
    )


def _cells(line: str) -> list[str]:
    inner = BETWEEN_CELLS.split(line.strip())[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in inner]
