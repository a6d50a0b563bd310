"""SQL that DuckDB answers faster than the forms that Soda asks in, and the same."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@contextmanager
def asked_as_duckdb_is_fast(dialect: Any, texts: Collection[str]) -> Iterator[None]:
    """Let Soda ask in forms that DuckDB answers faster. Only while it asks: people read the others.

    Patterns and lists are looked for in each distinct value of a column's dictionary, where it has one:
    DuckDB does that for `regexp_full_match` and `contains` alone. Nulls are those that are not counted,
    and what is null anyway where a column is null does not ask first whether it is.

    Args:
        texts: the columns that are declared varchar.
    """
    faster = _Faster(dialect, frozenset(texts))
    forms = {
        "_regex_like_sql": faster.pattern,
        "_build_in_sql": faster.among,
        "_build_sum_sql": faster.total,
        "_build_case_when_sql": faster.case,
    }
    vars(dialect).update(forms)
    try:
        yield
    finally:
        for name in forms:
            delattr(dialect, name)


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
        """A sum; the number of rows that meet a condition, which Soda has as one, is counted."""
        from soda_core.common.sql_ast import CASE_WHEN, COLUMN, IS_NULL

        case = asked.expression
        if not (isinstance(case, CASE_WHEN) and case.else_expression is None and _is_one(case.if_expression)):
            return str(type(self.dialect)._build_sum_sql(self.dialect, asked))
        if isinstance(case.condition, IS_NULL) and isinstance(case.condition.expression, COLUMN):
            return f"(count(*) - count({self.dialect.build_expression_sql(case.condition.expression)}))"
        return f"count_if({self.dialect.build_expression_sql(_without_asking_for_null(case.condition))})"

    def case(self, asked: Any) -> str:
        """A value where a condition holds; a column where it is not null is the column."""
        clauses = _clauses(asked.condition)
        if asked.else_expression is None and len(clauses) == 1:
            column = _not_null(clauses[0])
            if column is not None and column == _column(asked.if_expression):
                return str(self.dialect.build_expression_sql(asked.if_expression))
        return str(type(self.dialect)._build_case_when_sql(self.dialect, asked))


def _is_one(expression: Any) -> bool:
    return getattr(expression, "value", None) == 1


def _anywhere(expression: str, pattern: str) -> str:
    return f"REGEXP_FULL_MATCH({expression}, '(?s:.*?)(?:' || {pattern} || ')(?s:.*)')"


def _without_asking_for_null(condition: Any) -> Any:
    """The condition without `not (x is null)` where another clause is null then, and so not met either."""
    from soda_core.common.sql_ast import AND

    clauses = _clauses(condition)
    kept = [
        clause
        for clause in clauses
        if (column := _not_null(clause)) is None
        or not any(_null_of_null(other, column) for other in clauses if other is not clause)
    ]
    return AND(kept) if 0 < len(kept) < len(clauses) else condition


def _clauses(condition: Any) -> list[Any]:
    from soda_core.common.sql_ast import AND

    return list(condition._get_clauses_as_list()) if isinstance(condition, AND) else [condition]


def _column(expression: Any) -> str | None:
    from soda_core.common.sql_ast import COLUMN

    return str(expression.name) if isinstance(expression, COLUMN) else None


def _not_null(clause: Any) -> str | None:
    """The column that a clause wants not to be null, and no more than that."""
    from soda_core.common.sql_ast import IS_NULL, NOT

    inner = clause.expression if isinstance(clause, NOT) else None
    return _column(inner.expression) if isinstance(inner, IS_NULL) else None


def _null_of_null(clause: Any, column: str) -> bool:
    """Whether a clause is null where a column is null."""
    from soda_core.common.sql_ast import IN, LENGTH, NOT, OR, REGEX_LIKE, Operator

    match clause:
        case NOT() | REGEX_LIKE() | LENGTH():
            return _null_of_null(clause.expression, column)
        case IN():
            return bool(clause.list_expression) and _null_of_null(clause.expression, column)
        case Operator():
            return _null_of_null(clause.left, column) or _null_of_null(clause.right, column)
        case OR():
            return all(_null_of_null(each, column) for each in clause._get_clauses_as_list())
    return _column(clause) == column
