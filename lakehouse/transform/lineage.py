"""Column lineage of a model, from its compiled SQL by sqlglot."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot.lineage import Node

logger = logging.getLogger(__name__)

Schemas = Mapping[str, Mapping[str, str]]


def column_lineage(sql: str, columns: list[str], schemas: Schemas) -> dict[str, list[list[str]]]:
    """For each column, the `[layer.table, column]` pairs it is made from.

    Lineage is documentation: a query that sqlglot cannot follow gives none and a warning.

    Args:
        schemas: columns and types of each `layer.table` the query may read.
    """
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.lineage import lineage
    from sqlglot.optimizer.qualify import qualify
    from sqlglot.optimizer.scope import build_scope

    try:
        tree = parse_one(sql, dialect="duckdb")
        for table in tree.find_all(exp.Table):
            table.set("catalog", None)  # dbt writes the in-memory database's name
        nested = _nested(schemas)
        qualified = qualify(tree, dialect="duckdb", schema=nested, validate_qualify_columns=False)
        scope = build_scope(qualified)
        return {
            column: _leaves(
                lineage(column, qualified, schema=nested, dialect="duckdb", scope=scope, copy=False)
            )
            for column in columns
        }
    except (SqlglotError, ValueError) as error:
        logger.warning("No column lineage: %s", error)
        return {}


def _nested(schemas: Schemas) -> dict[str, object]:
    """`{layer: {table: {column: type}}}`, as sqlglot wants it."""
    nested: dict[str, dict[str, object]] = {}
    for name, columns in schemas.items():
        layer, table = name.split(".")
        nested.setdefault(layer, {})[table] = dict(columns)
    return dict(nested)


def _leaves(root: "Node") -> list[list[str]]:
    """The table columns at the ends of a lineage tree."""
    from sqlglot import exp

    found = set()
    for node in root.walk():
        if not node.downstream and isinstance(node.expression, exp.Table):
            table = node.expression
            found.add((f"{table.db}.{table.name}", node.name.split(".")[-1].strip('"')))
    return [list(pair) for pair in sorted(found)]
