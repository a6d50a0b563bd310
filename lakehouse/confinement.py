"""The first wall around a query: its syntax tree may name only tables and harmless functions.

In DuckDB 1.5 `from enable_logging(…)`, a plain SELECT, writes files even when the configuration is
locked, so the engine's own settings are not enough.
"""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakehouse.query_errors import QueryError, RefusedError, plain
from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# They make rows of their arguments, and open nothing.
TABLE_FUNCTIONS = frozenset(
    {
        "unnest",
        "range",
        "generate_series",
        "repeat",
        "repeat_row",
        "json_each",
        "json_tree",
        "duckdb_functions",
    }
)
EXPLAIN = re.compile(r"\s*(explain\s+(?:analyze\s+)?)(.*)", re.IGNORECASE | re.DOTALL)
READS_ONLY = (
    "`lakehouse query` only reads: give it one SELECT, DESCRIBE, SUMMARIZE or EXPLAIN SELECT statement."
)
LOCK = (
    "set autoload_known_extensions = false",
    "set python_enable_replacements = false",
    "set allow_persistent_secrets = false",
    "set enable_external_access = false",
    "set lock_configuration = true",  # last: nothing can be set after it
)


def vet(sql: str) -> tuple[str, str, set[str]]:
    """What stands before the statement's SELECT (EXPLAIN, or nothing), the SELECT, and its tables.

    Raises:
        RefusedError: the SQL would do more than read tables.
        QueryError: it is not SQL.
    """
    parser = _parser()
    explain, select = _one_select(parser, sql)
    return explain, select, _tables_named(parser, select)


def _parser() -> "DuckDBPyConnection":
    """A connection for parsing, locked too: DuckDB reads files while it parses IMPORT DATABASE."""
    import duckdb

    connection = duckdb.connect(":memory:")
    for setting in LOCK:
        connection.execute(setting)
    return connection


def _one_select(parser: "DuckDBPyConnection", sql: str) -> tuple[str, str]:
    """The statement as what stands before its SELECT (EXPLAIN, or nothing), and the SELECT."""
    import duckdb

    try:
        statements = parser.extract_statements(sql)
    except duckdb.PermissionException as error:
        raise RefusedError(READS_ONLY) from error
    except duckdb.Error as error:
        raise QueryError(plain(error)) from error
    if not statements:
        raise QueryError("There is no SQL to run.")
    if len(statements) > 1 and not any(statement.query for statement in statements):
        raise RefusedError("PIVOT has to name its values here: `pivot … on column in ('a', 'b') using …`.")
    if len(statements) > 1 or statements[0].type not in (
        duckdb.StatementType.SELECT,
        duckdb.StatementType.EXPLAIN,
    ):
        raise RefusedError(READS_ONLY)
    if statements[0].type == duckdb.StatementType.SELECT:
        return "", sql
    # Where this does not match, or misreads, what is left is no SELECT and is refused for that.
    explain = EXPLAIN.fullmatch(sql)
    return (explain[1], explain[2]) if explain else ("", sql)


def _tables_named(parser: "DuckDBPyConnection", select: str) -> set[str]:
    """The tables of a SELECT, found in its syntax tree; refuses what is not a table of the catalog."""
    # Not a bound parameter: for the first one DuckDB imports pandas, 0.3 seconds.
    (answer,) = parser.execute(f"select json_serialize_sql({literal(select)})").fetchone() or ("",)
    try:
        tree = json.loads(answer)
    except RecursionError:
        raise RefusedError("The statement is nested too deeply to be checked.") from None
    if tree["error"]:  # not a SELECT: EXPLAIN of something else, or a PRAGMA
        raise RefusedError(READS_ONLY)
    nodes = list(_nodes(tree))
    with_names = {
        str(name).lower() for node in nodes for name in (node.get("key"), node.get("cte_name")) if name
    }
    tables = set()
    for node in nodes:
        if node.get("type") == "TABLE_FUNCTION" and (function := node["function"]["function_name"]):
            if function.lower() not in TABLE_FUNCTIONS:
                raise RefusedError(
                    f"`lakehouse query` reads the lakehouse's tables only: {function}() is not available."
                )
        elif node.get("type") == "SHOW_REF" and not node["query"]:  # SHOW TABLES and its kind
            raise RefusedError(
                "Use `lakehouse tables` to list the tables, and `describe layer.table` for columns."
            )
        elif node.get("type") == "BASE_TABLE":
            schema, name = node["schema_name"], node["table_name"]
            if schema:
                tables.add(f"{schema}.{name}")
            elif name.lower() not in with_names:
                tables.add(identifier(name))  # in quotes it is no table's name: 'bronze.x' is a file
    return tables


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every object of a syntax tree."""
    stack: list[Any] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
