"""What every partition must pass, whatever its contract's checks are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import TYPE_CHECKING, Any

from lakehouse.quality.check_result import FAILED, PASSED, WARNED, CheckResult
from lakehouse.quality.contract import Contract
from lakehouse.storage.sql import identifier
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.schema import Schema
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


def columns(
    expected: "Schema",
    found: "Schema | None",
    known: frozenset[str],
    brought: frozenset[str] | None = None,
) -> CheckResult:
    """Whether the rows have the contract's columns.

    Args:
        expected: the contract's columns.
        found: the rows', None if there are no rows.
        known: columns that need no declaration.
        brought: the columns, and fields such as `address.zip`, that the rows had before the table's
            own were added with nulls; None: those they have.
    """
    if found is None:
        return CheckResult(COLUMNS, PASSED, True, note="no rows whose columns could differ")
    types = types_of(found)
    declared = types_of(expected)
    present = {*found.column_names} if brought is None else brought
    missing = [name for name in expected.column_names if name not in present]
    differences = [f"{name} is missing" for name in missing if name.rpartition(".")[0] not in missing]
    differences += [
        f"{name} is {types[name]}, declared {kind}"
        for name, kind in declared.items()
        if name in types and types[name] != kind
    ]
    new = [name for name in types if name not in declared and name not in known]
    said = differences + [f"{name} ({types[name]}) is not declared, and is kept" for name in new]
    outcome = FAILED if differences else WARNED if new else PASSED
    return CheckResult(
        COLUMNS,
        outcome,
        True,
        float(len(said)),
        "must be 0",
        {"differences": float(len(said))},
        "; ".join(said),
    )


def declared_schema(contract: Contract, connection: "DuckDBPyConnection") -> "Schema":
    """The contract's columns, as a table has them."""
    casts = ", ".join(
        f"cast(null as {column.type}) as {identifier(column.name)}" for column in contract.columns
    )
    return to_iceberg_schema(describe(connection, f"select {casts}"))


def types_of(schema: "Schema") -> dict[str, str]:
    """A schema's types by column, without the ids of nested fields, which depend on the columns' order."""
    return {field.name: re.sub(r"\b\d+: ", "", str(field.field_type)) for field in schema.fields}
