"""How a JSON value becomes a value of the declared type: exactly, or not at all.

JSON tells text, numbers, booleans and nested values apart, and so do we: `"5"` is no number and 5 no
text. What has no kind of its own, such as a time, is text and read as in a CSV file (`values`).
"""

from lakehouse.ingest import values
from lakehouse.ingest.columns import WHOLE_NUMBERS, Column
from lakehouse.storage.sql import literal

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


def text(column: Column, name: str, misfit: str = "error('misfit')") -> str:
    """SQL of a JSON value's text; null where it is null or absent.

    Args:
        name: SQL of the value.
        misfit: SQL for a value of a kind that the column does not hold.
    """
    if column.type == "json":
        return f"if(json_type({name}) = 'NULL', null, {name})"
    return (
        f"case when {name} is null or json_type({name}) = 'NULL' then null"
        f" when json_type({name}) not in ({_kinds(column)}) or {_is_inexact(column, name)} then {misfit}"
        f" else {name} ->> '$' end"
    )


def fitting(column: Column, plain: str) -> str:
    """SQL of the declared type over the text that `text` gives; null where it does not fit."""
    return plain if column.type == "json" else values.exact(column, plain)


def complaint(column: Column, name: str) -> str:
    """SQL of what is wrong with a JSON value that does not fit."""
    shown, kind = f"cast({name} as varchar)", f"json_type({name})"
    numbers = ", ".join(map(literal, NUMBER))
    words = ", ".join(f"{literal(each)}: {literal(word)}" for each, word in WORDS.items())
    other = f"concat('is ', map {{{words}}}[{kind}], ', but the column is declared {column.type}')"
    no_number = f"{kind} in ({numbers}) and not regexp_matches({shown}, '^-?[0-9]')"
    cases = [(f"{kind} not in ({_kinds(column)})", other), (no_number, literal("is no number of JSON"))]
    if _is_exact(column):
        more = (
            f"has more than the {EXACT_DIGITS} digits a JSON number keeps. Have the source write it as text"
        )
        cases.append((f"{kind} = 'DOUBLE' and {_may_have_lost_digits(shown)}", literal(more)))
    if column.type in WHOLE_NUMBERS:
        whole = f"try_cast({name} ->> '$' as double) % 1 = 0"
        cases.append((whole, literal(f"is too large for {column.type}")))
    whens = " ".join(f"when {condition} then {words}" for condition, words in cases)
    return f"case {whens} else {values.complaint(column, _text(name))} end"


def _kinds(column: Column) -> str:
    return ", ".join(map(literal, KINDS.get(column.type.split("(")[0], TEXT)))


def _is_exact(column: Column) -> bool:
    return column.type.split("(")[0] in ("bigint", "decimal")


def _is_inexact(column: Column, name: str) -> str:
    """SQL of whether a number is none of JSON's (NaN), or may have lost digits on the way."""
    wrong = f"not regexp_matches({name} ->> '$', '^-?[0-9]')"
    if _is_exact(column):
        wrong += f" or {_may_have_lost_digits(_text(name))}"
    return f"(json_type({name}) = 'DOUBLE' and ({wrong}))"


def _may_have_lost_digits(number: str) -> str:
    """SQL of whether a number with a point or an exponent has more digits than a double keeps."""
    significant = f"ltrim(regexp_replace(regexp_replace({number}, '[eE].*', ''), '[^0-9]', '', 'g'), '0')"
    return f"(regexp_matches({number}, '[.eE]') and length({significant}) > {EXACT_DIGITS})"


def _text(name: str) -> str:
    return f"({name} ->> '$')"
