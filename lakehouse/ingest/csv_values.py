"""How a file's text becomes a value of the declared type: exactly, or not at all.

Left to itself DuckDB rounds 1.5 to a whole number and 1.005 to two decimals, drops the zone of a
`timestamp` and the time of a `date`, takes a time without a zone for UTC, and reads text that is
no `timestamptz` as null.
"""

from lakehouse.ingest.columns import Column
from lakehouse.storage.sql import identifier, literal

MOST_DIGITS = 38  # of DuckDB's decimals
DATE_LENGTH = 10
ZONE = r"\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|UTC|[+-]\d\d(:?\d\d)?)$"


def read_as(column: Column) -> str:
    """A type that shows what the declared one would hide."""
    match column.type.split("(")[0]:
        case "integer":
            return "double"
        case "bigint":
            return f"decimal({MOST_DIGITS}, 18)"
        case "decimal":
            precision, scale = _digits(column.type)
            return f"decimal({MOST_DIGITS}, {MOST_DIGITS - precision + scale})"
        case "timestamptz" | "timestamp" | "date":
            return "varchar"
    return column.type


def is_checked(column: Column) -> bool:
    """Whether reading with the declared type would hide something."""
    return read_as(column) != column.type


def value(column: Column, misfit: str = "error('misfit')") -> str:
    """SQL of the declared type over the column as it was read.

    Args:
        misfit: SQL for what would not stay as it is. What is nothing of the type is an error.
    """
    name = identifier(column.name)
    cast = f"cast({name} as {column.type})"
    match column.type.split("(")[0]:
        case "integer" | "bigint":
            return f"if({name} % 1 <> 0, {misfit}, {cast})"
        case "decimal":
            return f"if({cast} <> {name}, {misfit}, {cast})"
        case "timestamptz":
            local = f"timezone({literal(column.zone)}, cast({name} as timestamp))" if column.zone else misfit
            zoned = f"ends_with({name}, 'Z') or regexp_matches({name}, '{ZONE}')"
            return f"case when {name} is null then null when {zoned} then {cast} else {local} end"
        case "timestamp":
            return f"if(regexp_matches({name}, '{ZONE}'), {misfit}, {cast})"
        case "date":
            return f"if(length(trim({name})) > {DATE_LENGTH}, {misfit}, {cast})"
    return name


def complaint(column: Column, is_time: bool) -> str:
    """What is wrong with a text that does not fit; `is_time` if it is one of some kind."""
    match column.type.split("(")[0]:
        case "integer" | "bigint":
            return "is no whole number. Declare the column as double or decimal, or ask the source"
        case "decimal":
            return f"has more digits than {column.type}. Declare more, or ask the source"
        case "timestamptz" if is_time:
            return (
                "names no time zone. Give the column's zone in the contract (`zone: America/New_York`), "
                "or declare it as timestamp"
            )
        case "timestamp" if is_time:
            return "names a time zone. Declare the column as timestamptz"
        case "date" if is_time:
            return "is more than a date. Declare the column as timestamp or timestamptz"
    return f"is no {column.type}"


def _digits(decimal: str) -> tuple[int, int]:
    """Precision and scale of a decimal; DuckDB's own where it names none."""
    inside = decimal.partition("(")[2].rstrip(")")
    if not inside:
        return 18, 3
    precision, _, scale = inside.partition(",")
    return int(precision), int(scale or 0)
