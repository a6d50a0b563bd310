"""How the values of profiled columns are distributed, from `ops.profiles`: counts, never rows.

Of a number the middle and where most of it lies, partition by partition; of a category the shares of the
newest partition beside those of the ones before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from lakehouse.catalog import metadata_locations
from lakehouse.operations.report.project import ProjectTable
from lakehouse.quality.masking import masked_columns
from lakehouse.query import ANSWER, open_query

if TYPE_CHECKING:
    from lakehouse.settings import Settings

PROFILES = "ops.profiles"
PARTITIONS = 90  # as many as a chart on a phone can show
BASELINE = 28  # partitions before the newest that it is compared with
SHOWN_LABELS = 6
LOW, MIDDLE, HIGH = 3, 5, 7  # p10, p50 and p90 among the quantiles of a profile


@dataclass(frozen=True)
class NumberProfile:
    """A number: its lowest tenth, its middle and its highest tenth in each partition."""

    table: str
    column: str
    days: Sequence[tuple[date, float, float, float]]


@dataclass(frozen=True)
class CategoryProfile:
    """A category: of its most frequent values the share now and before, from 0 to 1.

    Args:
        before: None where there are no partitions before the newest.
    """

    table: str
    column: str
    newest: date
    shares: Sequence[tuple[str, float, float | None]]


Profile = NumberProfile | CategoryProfile


def read_profiles(settings: "Settings", tables: Mapping[str, ProjectTable]) -> list[Profile]:
    """The profiled columns of the project's tables; without those that say something of a person.

    Raises:
        QueryError: `ops.profiles` cannot be read.
    """
    if PROFILES not in metadata_locations(settings):
        return []
    connection = open_query(
        settings,
        "select table_name, column_name, kind, partition, quantiles, labels, counts, other from"
        " (select *, dense_rank() over (partition by table_name order by partition desc) as age"
        f" from {PROFILES}) where kind in ('number', 'category') and age <= {PARTITIONS}"
        " order by table_name, column_name, partition",
    )
    by_column: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
    for table, column, kind, *rest in connection.execute(f"from {ANSWER}").fetchall():
        if table in tables and column not in masked_columns(tables[table].contract):
            by_column.setdefault((table, column, kind), []).append(tuple(rest))
    return [profile for key, rows in by_column.items() for profile in _profile(*key, rows)]


def _profile(table: str, column: str, kind: str, rows: Sequence[tuple[Any, ...]]) -> Iterable[Profile]:
    if kind == "number":
        days = [(day, q[LOW], q[MIDDLE], q[HIGH]) for day, q, *_ in rows if q and len(q) > HIGH]
        return [NumberProfile(table, column, days)] if days else []
    newest = rows[-1]
    now, before = _shares([newest]), _shares(rows[-1 - BASELINE : -1])
    if not now:
        return []
    ranked = sorted({*now, *before}, key=lambda label: -max(now.get(label, 0), before.get(label, 0)))
    shares = [
        (label, now.get(label, 0.0), before.get(label, 0.0) if before else None)
        for label in ranked[:SHOWN_LABELS]
    ]
    return [CategoryProfile(table, column, newest[0], shares)]


def _shares(rows: Sequence[tuple[Any, ...]]) -> dict[str, float]:
    counts: dict[str, int] = {}
    total = 0
    for _, _, labels, numbers, other in rows:
        total += sum(numbers or ()) + (other or 0)
        for label, count in zip(labels or (), numbers or (), strict=False):
            counts[label] = counts.get(label, 0) + count
    return {label: count / total for label, count in counts.items()} if total else {}
