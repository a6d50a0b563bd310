"""What every partition must pass, whatever its contract's checks are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import TYPE_CHECKING, Any

from lakehouse.quality.check_result import FAILED, PASSED, CheckResult
from lakehouse.quality.contract import Contract

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from lakehouse.settings import Settings

ROW_COUNT = "completeness_gate_row_count"
GOOD_ROWS = "validity_gate_good_rows"
COLUMNS = "drift_gate_columns"
GATES: Mapping[str, str] = {
    ROW_COUNT: "There are rows, about as many as in the partitions before (blocks)",
    GOOD_ROWS: "Few rows are in quarantine (blocks)",
    COLUMNS: "The columns are the contract's (a missing one or another type blocks, a new one warns)",
}

TRAILING = 28  # partitions whose median is compared with
ENOUGH = 7  # of them, to say what is usual


@dataclass(frozen=True)
class Gates:
    """What every partition, or table, must pass whatever its contract's checks are.

    Args:
        good_rows_percent: rows that quarantine may not fall below.
        row_count_change_percent: how far a partition's rows may be off the median of those before it;
            None: any number of rows is right.
        may_be_empty: whether no rows at all may be right.
    """

    good_rows_percent: float
    row_count_change_percent: float | None
    may_be_empty: bool = False


def limits_of(contract: Contract, settings: "Settings", *, may_be_empty: bool = False) -> Gates:
    """The gates of a table: what its contract says, and for the rest the project's settings."""
    said: dict[str, Any] = {
        "good_rows_percent": settings.good_rows_percent,
        "row_count_change_percent": settings.row_count_change_percent,
        **contract.gates,
    }
    return Gates(**said | {"may_be_empty": may_be_empty or said.get("may_be_empty", False)})


def rows_by_partition(table: "Table | None") -> dict[date, int]:
    """Rows of each partition that a table has."""
    if table is None or table.current_snapshot() is None or table.spec().is_unpartitioned():
        return {}
    partitions = table.inspect.partitions().select(["partition", "record_count"]).to_pylist()
    return {
        value: row["record_count"]
        for row in partitions
        for value in row["partition"].values()
        if isinstance(value, date)
    }


def row_count(limits: Gates, partition: date | None, rows: int, published: Mapping[date, int]) -> CheckResult:
    """Whether a partition has about as many rows as those before it, and a table any at all."""
    metrics = {"rows": float(rows)}
    if rows == 0:
        note = "there are no rows" + (", which the contract allows" if limits.may_be_empty else "")
        outcome = PASSED if limits.may_be_empty else FAILED
        return CheckResult(ROW_COUNT, outcome, True, 0.0, "must be greater than 0", metrics, note)
    percent = limits.row_count_change_percent
    before = sorted((day for day in published if partition and day < partition), reverse=True)[:TRAILING]
    usual = [published[day] for day in before if published[day]]
    if percent is None or partition is None or len(usual) < ENOUGH:
        few = percent is not None and partition is not None
        note = f"{len(usual)} earlier partitions are too few to say what is usual" if few else ""
        return CheckResult(ROW_COUNT, PASSED, True, float(rows), "must be greater than 0", metrics, note)
    middle = median(usual)
    low, high = middle * (1 - percent / 100), middle * (1 + percent / 100)
    good = low <= rows <= high
    return CheckResult(
        ROW_COUNT,
        PASSED if good else FAILED,
        True,
        float(rows),
        f"must be between {low:g} and {high:g}",
        metrics | {"usual_rows": float(middle)},
        "" if good else f"{rows} rows, but the {len(usual)} partitions before have {middle:g} in the median",
    )


def good_rows(limits: Gates, rows: int, aside: int) -> CheckResult:
    """Whether quarantine took only few."""
    percent = 100.0 * rows / (rows + aside) if rows + aside else 100.0
    good = percent >= limits.good_rows_percent
    return CheckResult(
        GOOD_ROWS,
        PASSED if good else FAILED,
        True,
        percent,
        f"must be greater than or equal {limits.good_rows_percent:g}",
        {"rows": float(rows), "rows_quarantined": float(aside), "good_rows_percent": percent},
        ""
        if good
        else f"{aside} of {rows + aside} rows are bad: {percent:.1f} % are good, "
        f"and {limits.good_rows_percent:g} % must be",
    )
