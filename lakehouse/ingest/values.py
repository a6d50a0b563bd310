"""How what a source gives becomes a value of the declared type: exactly, or not at all.

Left to itself DuckDB rounds 1.5 to a whole number and 1.005 to two decimals, drops the zone of a
`timestamp` and the time of a `date`, takes a time without a zone for UTC, cuts nanoseconds, and
takes 1.7 for true. What has the declared type already is taken as it is; all else goes through its
text, which hides nothing.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lakehouse.ingest.columns import WHOLE_NUMBERS, Column
from lakehouse.storage.sql import literal
from lakehouse.storage.types import NESTED_TYPES

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

MOST_DIGITS = 38  # of DuckDB's decimals
LARGEST_EXACT = 2**53  # of a double: from here on not every whole number is one
DATE_LENGTH = 10
SECONDS_LENGTH = 20  # of 2013-01-01T10:00:00Z: nothing shorter has more than six decimals
ZONE = r"\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|UTC|[+-]\d\d(:?\d\d)?)$"
NANOSECONDS = r"\.\d{6}0*[1-9]"

SMALL_NUMBERS = ("tinyint", "smallint", "integer", "utinyint", "usmallint")
# DuckDB types of which every value is one of the declared type, and the same one.
HELD = {
    "boolean": ("boolean",),
    "integer": SMALL_NUMBERS,
    "bigint": (*SMALL_NUMBERS, "uinteger", "bigint"),
    "double": (*SMALL_NUMBERS, "uinteger", "float", "double"),
    "varchar": ("varchar",),
    "json": ("json",),
    "blob": ("blob",),
    "time": ("time",),
}
# The same of types that have an infinity, which Iceberg does not.
HELD_IF_FINITE = {
    "date": ("date",),
    "timestamp": ("timestamp", "timestamp_s", "timestamp_ms", "date"),
    "timestamptz": ("timestamp with time zone",),
}


def read_as(column: Column) -> str:
    """The type to read a file's text with, so that the declared one hides nothing."""
    match column.type.split("(")[0]:
        case "integer":
            return "double"
        case "bigint":
            return f"decimal({MOST_DIGITS}, 18)"
        case "double" | "boolean" | "varchar" | "json":
            return column.type
    return "varchar"


def value(column: Column, name: str) -> str:
    """SQL of the declared type over a column that was read with `read_as`; what does not fit is an error."""
    misfit = "error('misfit')"
    if column.type in WHOLE_NUMBERS:
        whole = f"cast({name} as {column.type})"  # rounds: comparing takes a third of the time that `%` does
        return f"if({whole} <> {name}, {misfit}, {whole})"
    if column.type == "double":
        # A number too large, `inf`, or one of more digits than a double has: the text tells.
        return f"if(isinf({name}) or ({name} % 1 = 0 and abs({name}) > {LARGEST_EXACT}), {misfit}, {name})"
    if read_as(column) == column.type:
        return name
    slow = f"when {name} is not null then coalesce({exact(column, name)}, {misfit})"
    if not (plain := _is_plain(column, name)):
        return f"case {slow} end"
    cast = f"try_cast({name} as {column.type})"
    return f"case when {plain} then if(isfinite({cast}), {cast}, {misfit}) {slow} end"


def _is_plain(column: Column, text: str) -> str:
    """SQL of whether a moment is written as nearly all are, so that a cast alone is exact; '' if unknown.

    It spares them the patterns, which DuckDB looks for in every row, even behind an `or`.
    """
    match column.type:
        case "date":
            return f"length({text}) = {DATE_LENGTH}"
        case "timestamp":  # 2013-01-01 10:00:00
            return f"length({text}) = {SECONDS_LENGTH - 1} and {text}[{SECONDS_LENGTH - 3}] = ':'"
        case "timestamptz":
            return f"length({text}) = {SECONDS_LENGTH} and ends_with({text}, 'Z')"
    return ""


def exact(column: Column, text: str) -> str:  # noqa: PLR0911 - a case a type
    """SQL of the value that a text stands for; null if it stands for none of the column's type."""
    cast = f"try_cast({text} as {column.type})"
    zoned = f"(ends_with({text}, 'Z') or regexp_matches({text}, '{ZONE}'))"
    too_fine = f"(length({text}) > {SECONDS_LENGTH} and regexp_matches({text}, '{NANOSECONDS}'))"
    match column.type.split("(")[0]:
        case "integer" | "bigint":
            number = f"try_cast({text} as decimal({MOST_DIGITS}, 18))"
            return f"if({number} % 1 = 0, try_cast({number} as {column.type}), null)"
        case "decimal":
            same = f"try_cast({text} as double) = cast({cast} as double)"  # 1e2 is 100
            cut = f"regexp_matches({text}, '{_cut_digits(column)}')"
            power = f"contains(lower({text}), 'e')"
            return f"case when {power} then if({same}, {cast}, null) when not {cut} then {cast} end"
        case "double":
            whole = f"try_cast({text} as hugeint)"
            rounded = (
                f"(regexp_matches({text}, '^\\s*-?\\d{{16,}}\\s*$') and {whole} <> cast({cast} as hugeint))"
            )
            too_large = f"(isinf({cast}) and not contains(lower({text}), 'inf'))"
            return f"if({rounded} or {too_large}, null, {cast})"
        case "date":
            moment = f"try_cast({text} as timestamp)"
            midnight = f"not {zoned} and not {too_fine} and {moment} = date_trunc('day', {moment})"
            day = f"case when length(trim({text})) <= {DATE_LENGTH} or ({midnight}) then {cast} end"
            return f"if(isfinite({day}), {day}, null)"
        case "timestamp":
            return f"case when not {zoned} and not {too_fine} and isfinite({cast}) then {cast} end"
        case "timestamptz":
            local = _in_zone(column.zone, f"try_cast({text} as timestamp)") if column.zone else "null"
            instant = f"case when {too_fine} then null when {zoned} then {cast} else {local} end"
            return f"if(isfinite({instant}), {instant}, null)"
        case "time":
            return f"case when not {zoned} and not regexp_matches({text}, '{NANOSECONDS}') then {cast} end"
        case "varchar":
            return text
    return cast


def is_held(column: Column, kind: "DuckDBPyType") -> bool:
    """Whether every value of a DuckDB type is one of the declared type."""
    return str(kind).lower() in HELD.get(column.type, ()) or _same_decimal(column, kind)


def fitting(column: Column, sql: str, kind: "DuckDBPyType") -> str:
    """SQL of the declared type over an expression of any; null where its value does not fit."""
    name = str(kind).lower()
    if is_held(column, kind):
        return f"cast({sql} as {column.type})"
    if name in HELD_IF_FINITE.get(column.type, ()):
        return f"if(isfinite({sql}), cast({sql} as {column.type}), null)"
    if column.type == "timestamptz" and column.zone and name in HELD_IF_FINITE["timestamp"]:
        return _in_zone(column.zone, f"cast({sql} as timestamp)")
    if column.type == "double" and name in ("bigint", "ubigint", "hugeint"):
        return f"if(cast(cast({sql} as double) as hugeint) = {sql}, cast({sql} as double), null)"
    if column.type == "json" and kind.id in NESTED_TYPES:
        return f"to_json({sql})"
    return exact(column, text_of(sql, kind))


def text_of(sql: str, kind: "DuckDBPyType") -> str:
    """SQL of a value as text that says all of it."""
    return f"cast(to_json({sql}) as varchar)" if kind.id in NESTED_TYPES else f"cast({sql} as varchar)"


def complaint(column: Column, text: str) -> str:
    """SQL of what is wrong with a text that does not fit, and what to do."""
    whole = f"try_cast({text} as double) % 1"
    known: list[tuple[str, str]] = []
    match column.type.split("(")[0]:
        case "integer" | "bigint":
            known = [
                (
                    f"{whole} <> 0",
                    "is no whole number. Declare the column as double or decimal, or ask the source",
                ),
                (f"{whole} = 0", f"is too large for {column.type}. Declare a larger type, or ask the source"),
            ]
        case "decimal":
            more = f"has more digits than {column.type}. Declare more, or ask the source"
            known = [(f"isfinite(try_cast({text} as double))", more)]
        case "double":
            known = [(f"{whole} = 0", "is too large for double. Declare a decimal, or ask the source")]
        case "date" | "timestamp" | "timestamptz" | "time":
            known = [*_complaints_of_times(column, text)]
    otherwise = literal(f"is no {column.type}")
    cases = " ".join(f"when {condition} then {literal(words)}" for condition, words in known)
    return f"case {cases} else {otherwise} end" if cases else otherwise


def _complaints_of_times(column: Column, text: str) -> Iterator[tuple[str, str]]:
    zoned = f"(ends_with({text}, 'Z') or regexp_matches({text}, '{ZONE}'))"
    moment = f"coalesce(try_cast({text} as timestamp), try_cast({text} as timestamptz)) is not null"
    yield (
        f"contains(lower({text}), 'infinity')",
        "is no moment that Iceberg knows. Leave it out (null), or ask the source",
    )
    if column.type == "date":
        yield moment, "is more than a date. Declare the column as timestamp or timestamptz"
        return
    yield (
        f"regexp_matches({text}, '{NANOSECONDS}')",
        "is finer than a microsecond, which no table keeps. Declare the column as varchar, or ask the source",
    )
    if column.type != "timestamptz":
        yield zoned, "names a time zone. Declare the column as timestamptz"
    elif column.zone:
        yield moment, f"is an hour that the clocks of {column.zone} leave out. Ask the source"
    else:
        yield (
            f"{moment} and not {zoned}",
            "names no time zone. Give the column's zone in the contract (`zone: America/New_York`), "
            "or declare it as timestamp",
        )


def _in_zone(zone: str, local: str) -> str:
    """The instant of a local time; null for one that the zone's clocks leave out.

    Of an hour that comes twice it is the second.
    """
    instant = f"timezone({literal(zone)}, {local})"
    return f"if(timezone({literal(zone)}, {instant}) = {local}, {instant}, null)"


def _same_decimal(column: Column, kind: "DuckDBPyType") -> bool:
    if kind.id != "decimal" or not column.type.startswith("decimal"):
        return False
    precision, scale = _digits(column.type)
    held: dict[str, Any] = dict(kind.children)
    return bool(held["scale"] == scale and held["precision"] <= precision)


def _cut_digits(column: Column) -> str:
    """A pattern of the digits that a decimal column has no room for."""
    _, scale = _digits(column.type)
    return rf"\.\d{{{scale}}}\d*[1-9]"


def _digits(decimal: str) -> tuple[int, int]:
    """Precision and scale of a decimal; DuckDB's own where it names none."""
    inside = decimal.partition("(")[2].rstrip(")")
    if not inside:
        return 18, 3
    precision, _, scale = inside.partition(",")
    return int(precision), int(scale or 0)
