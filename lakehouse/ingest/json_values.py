"""How a JSON value becomes a value of the declared type: exactly, or not at all.

JSON tells text, numbers, booleans and nested values apart, and so do we: `"5"` is no number and 5 no
text. What has no kind of its own, such as a time, is text and read as in a CSV file (`csv_values`).
"""

import re

from lakehouse.ingest import csv_values
from lakehouse.ingest.columns import WHOLE_NUMBERS, Column
from lakehouse.storage.sql import identifier, literal

NUMBER = ("BIGINT", "UBIGINT", "DOUBLE")
TEXT = ("VARCHAR",)
KINDS = {
    "boolean": ("BOOLEAN",),
    "integer": NUMBER,
    "bigint": NUMBER,
    "double": NUMBER,
    "decimal": (*NUMBER, *TEXT),  # many systems write money as text, lest a reader rounds it
}
WORDS = {
    "VARCHAR": "text",
    "BOOLEAN": "a boolean",
    "OBJECT": "an object",
    "ARRAY": "a list",
    **dict.fromkeys(NUMBER, "a number"),
}
EXACT_DIGITS = 15  # of a number with a point or an exponent, which JSON readers take for a double


def text(column: Column, misfit: str = "error('misfit')") -> str:
    """SQL of a JSON value's text; null where it is null or absent.

    Args:
        misfit: SQL for a value of a kind that the column does not hold.
    """
    name = identifier(column.name)
    if column.type == "json":
        return f"if(json_type({name}) = 'NULL', null, {name})"
    kinds = ", ".join(map(literal, _kinds(column)))
    return (
        f"case when {name} is null or json_type({name}) = 'NULL' then null"
        f" when json_type({name}) not in ({kinds}) or {_is_inexact(column)} then {misfit}"
        f" else {name} ->> '$' end"
    )


def complaint(column: Column, kind: str, shown: str, is_time: bool) -> str:
    """What is wrong with a value that does not fit.

    Args:
        kind: the value's kind, as DuckDB's `json_type` says it.
        shown: the value as the file has it.
    """
    if kind not in _kinds(column):
        return f"is {WORDS[kind]}, but the column is declared {column.type}"
    if kind in NUMBER and not shown.lstrip("-")[:1].isdigit():
        return "is no number of JSON"
    base = column.type.split("(")[0]
    if kind == "DOUBLE" and base in ("bigint", "decimal") and _may_have_lost_digits(shown):
        return (
            f"has more than the {EXACT_DIGITS} digits a JSON number keeps. Have the source write it as text"
        )
    if column.type in WHOLE_NUMBERS and float(shown).is_integer():
        return f"is too large for {column.type}"
    if base == "decimal" and not re.match(r'"?[+-]?[0-9.]', shown):
        return f"is no {column.type}"
    return csv_values.complaint(column, is_time)


def _kinds(column: Column) -> tuple[str, ...]:
    return KINDS.get(column.type.split("(")[0], TEXT)


def _is_inexact(column: Column) -> str:
    """SQL of whether a number is none of JSON's (NaN), or may have lost digits on the way."""
    name = identifier(column.name)
    number = f"{name} ->> '$'"
    wrong = f"not regexp_matches({number}, '^-?[0-9]')"
    if column.type.split("(")[0] in ("bigint", "decimal"):
        significant = f"ltrim(regexp_replace(regexp_replace({number}, '[eE].*', ''), '[^0-9]', '', 'g'), '0')"
        wrong += f" or regexp_matches({number}, '[.eE]') and length({significant}) > {EXACT_DIGITS}"
    return f"json_type({name}) = 'DOUBLE' and ({wrong})"


def _may_have_lost_digits(number: str) -> bool:
    """Whether a number with a point or an exponent has more digits than a double keeps."""
    significant = re.sub("[eE].*|[^0-9]", "", number).lstrip("0")
    return re.search("[.eE]", number) is not None and len(significant) > EXACT_DIGITS
