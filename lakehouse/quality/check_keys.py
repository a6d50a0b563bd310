"""The keys that each of Soda's check types takes; every other is refused.

Soda passes over a key that it does not know, and over some that it reads and does not use: a check with
a misspelled threshold would pass for ever. `tests/unit/quality/test_check_keys.py` notices if Soda changes.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_COMMON = ("name", "qualifier", "attributes", "threshold")
_MISSING = ("missing_values", "missing_format", "column_expression", "filter")
_FORMATS = ("missing_format", "invalid_format", "valid_format")
_LIMITS = ("valid_min", "valid_max", "valid_length", "valid_min_length", "valid_max_length")
_VALID = ("invalid_values", "invalid_format", "valid_values", "valid_format", *_LIMITS)

CHECK_KEYS: Mapping[str, tuple[str, ...]] = {
    "missing": (*_COMMON, *_MISSING),
    "invalid": (*_COMMON, *_MISSING, *_VALID, "valid_reference_data"),
    "duplicate": (*_COMMON, *_MISSING),
    "row_count": (*_COMMON, "filter"),
    "aggregate": (*_COMMON, *_MISSING, *_VALID, "function"),
    "metric": (*_COMMON, "expression", "query"),
    "failed_rows": (*_COMMON, "filter", "expression", "query", "rows_tested_query"),
    "freshness": (*_COMMON, "filter", "column", "column_expression"),
}
DUPLICATE_OF_TABLE = (*_COMMON, "filter", "columns")
_OF_COLUMNS = ("missing", "invalid", "aggregate")
_NEEDED = {
    "aggregate": ("function", "threshold"),
    "metric": ("threshold",),
    "freshness": ("column", "threshold"),
}

COMPARISONS = (
    "must_be",
    "must_not_be",
    "must_be_less_than",
    "must_be_less_than_or_equal",
    "must_be_greater_than",
    "must_be_greater_than_or_equal",
    "must_be_between",
    "must_be_not_between",
)
RANGE_KEYS = ("greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal")
LEVELS = ("fail", "warn")
METRICS = ("count", "percent")
UNITS = ("minute", "hour", "day")
# Of the other types Soda takes a metric too, and does not use it.
_WITH_METRIC = ("missing", "invalid", "duplicate", "failed_rows")

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("attributes", "threshold", "valid_reference_data", *_FORMATS), dict),
    **dict.fromkeys(("columns", "missing_values", "invalid_values", "valid_values"), list),
    **dict.fromkeys(("name", "qualifier", "filter", "column", "column_expression"), str),
    **dict.fromkeys(("function", "expression", "query", "rows_tested_query"), str),
}
_IN_WORDS: Mapping[type, str] = {dict: "a mapping", list: "a list", str: "a text"}


def check_faults(kind: str, column: str | None, body: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the keys of a check, and with the keys below them.

    Args:
        kind: one of `CHECK_KEYS`.
        column: that the check is declared under, None for one of the table.
    """
    known = DUPLICATE_OF_TABLE if kind == "duplicate" and column is None else CHECK_KEYS[kind]
    needed = ("columns",) if known is DUPLICATE_OF_TABLE else _NEEDED.get(kind, ())
    if kind in _OF_COLUMNS and column is None:
        yield "stands below `checks:` of the table, but is one of a column"
    if kind == "freshness" and column is not None:
        yield "stands below a column, but is one of the table, with `column:`"
    yield from _unknown(body, known)
    yield from (f"has no {key}" for key in needed if not body.get(key))
    wrong = {key: kind for key, kind in _KINDS.items() if not isinstance(body.get(key, kind()), kind)}
    yield from (f"{key} is not {_IN_WORDS[kind]}" for key, kind in wrong.items())
    for key in _FORMATS:
        if key in body and key not in wrong:
            yield from _exactly(body[key], ("regex", "name"), f"{key}: ")
    if "valid_reference_data" in body and "valid_reference_data" not in wrong:
        yield from _exactly(body["valid_reference_data"], ("dataset", "column"), "valid_reference_data: ")
    if "threshold" in body and "threshold" not in wrong:
        yield from _threshold_faults(kind, body["threshold"])


def _threshold_faults(kind: str, said: Mapping[str, Any]) -> Iterator[str]:
    extra = ("level", "additional", *(["metric"] if kind in _WITH_METRIC else []))
    where = "threshold: "
    yield from _unknown(said, (*COMPARISONS, *extra, *(["unit"] if kind == "freshness" else [])), where)
    yield from _one_of(said, "metric", METRICS, where)
    yield from _one_of(said, "unit", UNITS, where)
    yield from _comparison_faults(said, where, may_be_none=not {"additional"} & set(said))
    if "additional" not in said:
        return
    where = "threshold: additional: "
    if not isinstance(said["additional"], dict):
        yield f"{where}it is not a mapping"
        return
    yield from _unknown(said["additional"], (*COMPARISONS, "level"), where)
    yield from _comparison_faults(said["additional"], where, may_be_none=False)


def _comparison_faults(said: Mapping[str, Any], where: str, *, may_be_none: bool) -> Iterator[str]:
    """Soda does not evaluate a check with two comparisons, and takes a level it does not know for `fail`."""
    yield from _one_of(said, "level", LEVELS, where)
    compared = [key for key in COMPARISONS if key in said]
    if len(compared) > 1 or not (compared or may_be_none):
        yield f"{where}it has {' and '.join(compared) or 'no comparison'}, but exactly one is compared with"
    for key in compared:
        between = key.endswith("between")
        if between and isinstance(said[key], dict):
            yield from _unknown(said[key], RANGE_KEYS, f"{where}{key}: ")
        elif between or isinstance(said[key], bool) or not isinstance(said[key], int | float):
            yield f"{where}{key} is not a {'mapping' if between else 'number'}"


def _unknown(said: Mapping[str, Any], known: tuple[str, ...], where: str = "") -> Iterator[str]:
    for key in said:
        if key not in known:
            yield f"{where}unknown key {key!r}; known are {', '.join(known)}"


def _exactly(said: Mapping[str, Any], keys: tuple[str, ...], where: str) -> Iterator[str]:
    yield from _unknown(said, keys, where)
    yield from (f"{where}{key} is not a text" for key in keys if not isinstance(said.get(key), str))


def _one_of(said: Mapping[str, Any], key: str, known: tuple[str, ...], where: str) -> Iterator[str]:
    if key in said and said[key] not in known:
        yield f"{where}{key} is {said[key]!r}; known are {', '.join(known)}"
