"""Rows as text for machines: one SQL expression that writes a row as a line of CSV or JSON.

DuckDB writes the text, so a large result streams and no value passes through a Python type that
would lose some of it (decimals, nanoseconds, NaN). Not `to_json`: it turns decimals into doubles.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType

BATCH_ROWS = 10_000
INTEGERS = frozenset(
    f"{sign}{size}int" for sign in ("", "u") for size in ("tiny", "small", "", "big", "huge")
)
NUMBERS = INTEGERS | {"integer", "uinteger", "decimal", "boolean"}
TIMES = frozenset({"timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"})


def csv_lines(connection: "DuckDBPyConnection", view: str) -> Iterator[str]:
    """A header and a line a row: null is nothing, an empty text is `""`, nested values are JSON."""
    names, types = _columns(connection, view)
    yield ",".join(_csv_quote(name) for name in names) + "\n"
    # concat, unlike ||, reads null as nothing: just what a null is in CSV
    row = "concat(" + ", ',', ".join(_csv_value(f"c{i}", kind) for i, kind in enumerate(types)) + ")"
    for line in _rows(connection, view, row, len(names)):
        yield line + "\n"


def json_lines(connection: "DuckDBPyConnection", view: str) -> Iterator[str]:
    """An array with an object a row, each on its own line."""
    names, types = _columns(connection, view)
    start = "["
    row = _object(names, [f"c{i}" for i in range(len(names))], types)
    for line in _rows(connection, view, row, len(names)):
        yield f"{start}\n{line}"
        start = ","
    yield "[]\n" if start == "[" else "\n]\n"


def _columns(connection: "DuckDBPyConnection", view: str) -> tuple[list[str], "Sequence[DuckDBPyType]"]:
    relation = connection.view(view)
    return relation.columns, relation.types


def _rows(connection: "DuckDBPyConnection", view: str, row: str, width: int) -> Iterator[str]:
    """The row's text for each row, fetched as it is computed."""
    # Columns by position: names may repeat, and may be anything.
    columns = ", ".join(f"c{i}" for i in range(width))
    result = connection.execute(f"select {row} from {identifier(view)} as r({columns})")
    while batch := result.fetchmany(BATCH_ROWS):
        for (line,) in batch:
            yield line


def _csv_quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if not text or any(c in text for c in ',"\r\n') else text


def _csv_value(value: str, kind: "DuckDBPyType") -> str:
    if kind.id in NUMBERS:
        return f"{value}::varchar"
    if kind.id in ("float", "double"):
        return f"trim({_json_float(value)}, '\"')"
    if kind.id in TIMES:
        text = _iso(value)
    elif kind.id in ("list", "array", "struct", "map"):
        text = f"case when {value} is not null then {_json_value(value, kind)} end"
    else:
        text = f"{value}::varchar"
    quoted = f"""'"' || replace({text}, '"', '""') || '"'"""
    return f"""case when regexp_matches({text}, '[,"\\r\\n]|^$') then {quoted} else {text} end"""


def _json_value(value: str, kind: "DuckDBPyType", depth: int = 0) -> str:
    """SQL that writes a value as JSON text; a null as `null`."""
    if kind.id in NUMBERS or str(kind) == "JSON":
        text = f"{value}::varchar"
    elif kind.id in ("float", "double"):
        text = _json_float(value)
    elif kind.id in TIMES:
        text = f"""'"' || {_iso(value)} || '"'"""
    elif kind.id in ("list", "array"):
        text = _json_list(value, _child_types(kind)[0], depth)
    elif kind.id == "map":
        text = _json_map(value, kind, depth)
    elif kind.id == "struct":
        names = [name for name, _ in kind.children]
        # fields of a row(…) have no names: they are numbered, from 1
        fields = [f"struct_extract_at({value}, {i + 1})" for i in range(len(names))]
        keys = [name or str(i + 1) for i, name in enumerate(names)]
        text = f"case when {value} is not null then {_object(keys, fields, _child_types(kind), depth)} end"
    else:
        text = f"to_json({value}::varchar)::varchar"
    return f"coalesce({text}, 'null')"


def _object(
    keys: Sequence[str], values: Sequence[str], kinds: "Sequence[DuckDBPyType]", depth: int = 0
) -> str:
    pairs = (
        f"to_json({literal(key)})::varchar, ': ', {_json_value(value, kind, depth)}"
        for key, value, kind in zip(keys, values, kinds, strict=True)
    )
    return "concat('{', " + ", ', ', ".join(pairs) + ", '}')"


def _json_list(value: str, kind: "DuckDBPyType", depth: int) -> str:
    each = identifier(f"e{depth}")  # a lambda within a lambda needs a name of its own
    items = f"list_transform({value}, lambda {each}: {_json_value(each, kind, depth + 1)})"
    return f"'[' || array_to_string({items}, ', ') || ']'"


def _json_map(value: str, kind: "DuckDBPyType", depth: int) -> str:
    each = identifier(f"e{depth}")
    key = f"to_json({each}.key::varchar)::varchar"  # JSON has text keys only
    pair = f"{key} || ': ' || {_json_value(f'{each}.value', _child_types(kind)[1], depth + 1)}"
    pairs = f"list_transform(map_entries({value}), lambda {each}: {pair})"
    return f"'{{' || array_to_string({pairs}, ', ') || '}}'"


def _child_types(kind: "DuckDBPyType") -> "list[DuckDBPyType]":
    from duckdb.sqltypes import DuckDBPyType

    return [
        child for _, child in kind.children if isinstance(child, DuckDBPyType)
    ]  # an array has its size too


def _json_float(value: str) -> str:
    """Shortest text that reads back as the same number; JSON has no NaN, so these are text."""
    special = f"case when isnan({value}) then 'NaN' when {value} > 0 then 'Infinity' else '-Infinity' end"
    return f"""case when isfinite({value}) then {value}::varchar when {value} is not null
        then '"' || {special} || '"' end"""


def _iso(value: str) -> str:
    """ISO 8601; the session reads zoned times as UTC, so the only offset is +00."""
    return f"replace(replace({value}::varchar, ' ', 'T'), '+00', 'Z')"
