"""Distinct keys, counted as DuckDB is fast at it.

Soda counts them by the MD5 of their text, thirty scans' worth of work for ten million rows.
This reaches behind Soda's session as `soda.py` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakehouse.storage.sql import qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

HASHES_AT_ONCE = 16_000_000  # 128 MB; of more rows the keys are read as often as it takes
FEW_ROWS = 1_000_000  # are grouped as fast as they are hashed
BATCH_ROWS = 1_000_000


@dataclass(frozen=True)
class Key:
    """What a check of duplicates counts.

    Args:
        metrics: Soda's ids of the count.
        columns: SQL of the key.
        condition: SQL of the rows that count.
    """

    metrics: tuple[str, ...]
    columns: str
    condition: str


def take_out_keys(soda: Any) -> list[Key]:
    """Let a parsed contract's queries count no distinct keys; returns what they would have."""
    keys = []
    for query in soda.queries:
        for metric in list(getattr(query, "aggregation_metrics", ())):
            if metric.type == "distinct_count":
                query.aggregation_metrics.remove(metric)
                aliases = query.metric_aliases.get(metric.id, ())
                ids = (metric.id, *(alias.id for alias in aliases))
                keys.append(_key(metric, ids, soda.data_source_impl.sql_dialect))
    return keys


def _key(metric: Any, ids: tuple[str, ...], dialect: Any) -> Key:
    conditions = [f"({metric.check_filter})"] if metric.check_filter else []
    composite = getattr(metric, "column_expressions", None)
    columns = [dialect.build_expression_sql(column) for column in composite or [metric.column_expression]]
    if not composite:  # Soda counts a composite key with nulls, and no single one
        missing = metric.missing_and_validity.is_missing_expr(metric.column_expression)
        conditions.append(f"not ({dialect.build_expression_sql(missing)})")
    return Key(ids, ", ".join(columns), " and ".join(conditions) or "true")


def count_distinct(connection: "DuckDBPyConnection", table: str, key: Key, most: int | None) -> int:
    """How many keys the rows of `layer.table` have.

    Where all hashes differ, so do the keys: sorting numbers takes a quarter of the time of grouping.

    Args:
        most: rows that the table has, if that is known.

    Raises:
        duckdb.Error: the key or its condition cannot be evaluated.
    """
    if most is None:
        [(most,)] = connection.execute(f"select count(*) from {qualified(table)}").fetchall()
    rows = f"from {qualified(table)} where {key.condition}"
    if most > FEW_ROWS:
        count = _count_if_all_differ(connection, f"select hash({key.columns}) as h {rows}", most)
        if count is not None:
            return count
    [(counted,)] = connection.execute(
        f"select count(*) from (select distinct {key.columns} {rows})"
    ).fetchall()
    return int(counted)


def _count_if_all_differ(connection: "DuckDBPyConnection", hashes: str, most: int) -> int | None:
    """The number of a query's hashes, None if two are the same.

    Args:
        most: rows that there may be.
    """
    parts = most // HASHES_AT_ONCE + 1
    found = 0
    for part in range(parts):
        condition = f" where h % {parts} = {part}" if parts > 1 else ""
        count = _count_of_part(connection, f"select h from ({hashes}){condition}", most)
        if count is None:
            return None
        found += count
    return found


def _count_of_part(connection: "DuckDBPyConnection", hashes: str, most: int) -> int | None:
    import numpy

    every = numpy.empty(most, numpy.uint64)  # of which only what is filled takes memory
    count = 0
    for batch in connection.execute(hashes).to_arrow_reader(BATCH_ROWS):
        every[count : count + batch.num_rows] = batch.column(0).to_numpy()
        count += batch.num_rows
    found = every[:count]
    found.sort()
    return None if (found[1:] == found[:-1]).any() else count


def measure_keys(
    connection: "DuckDBPyConnection", table: str, keys: Sequence[Key], rows: int | None
) -> list[Any]:
    """Soda's measurements of the keys; what cannot be evaluated is in Soda's log and has none.

    Args:
        rows: that the table has, if that is known.
    """
    import duckdb
    from soda_core.common.logging_constants import soda_logger
    from soda_core.contracts.contract_verification import Measurement

    measurements = []
    for key in keys:
        try:
            count = count_distinct(connection, table, key, rows)
        except duckdb.Error as error:
            soda_logger.error(f"Could not count distinct {key.columns}: {error}")
            continue
        measurements += [Measurement(metric, count, "distinct_count") for metric in key.metrics]
    return measurements
