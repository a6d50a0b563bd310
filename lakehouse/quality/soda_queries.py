"""What takes Soda most of the time on DuckDB, asked in another way and answered the same.

Soda counts distinct keys by the MD5 of their text, thirty scans' worth of work for ten million rows, and
looks for patterns with a function of DuckDB's that is called for every row instead of for every value.
This reaches behind Soda's session as `soda.py` does.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
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


def count_distinct(connection: "DuckDBPyConnection", table: str, key: Key) -> int:
    """How many keys the rows of `layer.table` have.

    Where all hashes differ, so do the keys: sorting numbers takes a quarter of the time of grouping.

    Raises:
        duckdb.Error: the key or its condition cannot be evaluated.
    """
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
        count = _count_of_part(connection, f"select h from ({hashes}){condition}")
        if count is None:
            return None
        found += count
    return found


def _count_of_part(connection: "DuckDBPyConnection", hashes: str) -> int | None:
    import numpy

    batches = connection.execute(hashes).to_arrow_reader(BATCH_ROWS)
    found = [batch.column(0).to_numpy() for batch in batches]
    if not found:
        return 0
    together = numpy.concatenate(found)
    together.sort()
    return None if (together[1:] == together[:-1]).any() else len(together)


def measure(queries: Sequence[Any]) -> list[Any]:
    """What Soda's queries measure; what cannot be evaluated is in Soda's log and hides nothing else.

    One query computes most checks' numbers. Where it fails, each is computed by itself.
    """
    measurements: list[Any] = []
    for query in queries:
        together = list(getattr(query, "aggregation_metrics", ()))
        if len(together) == 1 or (found := _measured(query, log=not together)) is None:
            found = [each for metric in together for each in _measured_alone(query, metric)]
        measurements += found
    return measurements


def _measured_alone(query: Any, metric: Any) -> list[Any]:
    together, query.aggregation_metrics = query.aggregation_metrics, [metric]
    try:
        return _measured(query, log=True) or []
    finally:
        query.aggregation_metrics = together


def _measured(query: Any, *, log: bool) -> list[Any] | None:
    """What a query measures, None if it cannot be evaluated."""
    from soda_core.common.exceptions import SodaCoreException
    from soda_core.common.logging_constants import soda_logger

    try:
        return list(query.execute())
    except SodaCoreException as error:
        if log:
            soda_logger.error(str(error))
        return None


@contextmanager
def asked_as_duckdb_is_fast(dialect: Any, texts: Collection[str]) -> Iterator[None]:
    """Let Soda ask in forms that DuckDB answers faster. Only while it asks: people read the others.

    Patterns and lists are looked for in each distinct value of a column's dictionary, where it has one:
    DuckDB does that for `regexp_full_match` and `contains` alone. Nulls are those that are not counted.

    Args:
        texts: the columns that are declared varchar.
    """
    faster = _Faster(dialect, frozenset(texts))
    dialect._regex_like_sql = faster.pattern
    dialect._build_in_sql = faster.among
    dialect._build_sum_sql = faster.total
    try:
        yield
    finally:
        del dialect._regex_like_sql, dialect._build_in_sql, dialect._build_sum_sql


@dataclass(frozen=True)
class _Faster:
    """Forms of SQL; what they do not know is Soda's own."""

    dialect: Any
    texts: frozenset[str]

    def pattern(self, expression: str, pattern: str) -> str:
        """Whether a text has a pattern in it."""
        return _anywhere(expression, pattern)

    def among(self, asked: Any) -> str:
        """Whether a value is one of some; of another type than text `contains` would compare otherwise."""
        values = [getattr(value, "value", None) for value in asked.list_expression]
        column = getattr(asked.expression, "name", None)
        if not (column in self.texts and all(isinstance(value, str) for value in values)):
            return str(type(self.dialect)._build_in_sql(self.dialect, asked))
        listed = ", ".join(self.dialect.build_expression_sql(value) for value in asked.list_expression)
        return f"contains([{listed}], {self.dialect.build_expression_sql(asked.expression)})"

    def total(self, asked: Any) -> str:
        """A sum; the number of nulls, which Soda has as one, as what `count` leaves out."""
        from soda_core.common.sql_ast import CASE_WHEN, COLUMN, IS_NULL

        case = asked.expression
        if isinstance(case, CASE_WHEN) and isinstance(case.condition, IS_NULL):
            column = case.condition.expression
            if isinstance(column, COLUMN) and case.else_expression is None and _is_one(case.if_expression):
                return f"(count(*) - count({self.dialect.build_expression_sql(column)}))"
        return str(type(self.dialect)._build_sum_sql(self.dialect, asked))


def _is_one(expression: Any) -> bool:
    return getattr(expression, "value", None) == 1


def _anywhere(expression: str, pattern: str) -> str:
    return f"REGEXP_FULL_MATCH({expression}, '(?s:.*?)(?:' || {pattern} || ')(?s:.*)')"


def measure_keys(connection: "DuckDBPyConnection", table: str, keys: Sequence[Key]) -> list[Any]:
    """Soda's measurements of the keys; what cannot be evaluated is in Soda's log and has none."""
    import duckdb
    from soda_core.common.logging_constants import soda_logger
    from soda_core.contracts.contract_verification import Measurement

    measurements = []
    for key in keys:
        try:
            count = count_distinct(connection, table, key)
        except duckdb.Error as error:
            soda_logger.error(f"Could not count distinct {key.columns}: {error}")
            continue
        measurements += [Measurement(metric, count, "distinct_count") for metric in key.metrics]
    return measurements
