"""Rows of Python values as text, each with what kind it is: nothing is rounded, cut or guessed."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from lakehouse.ingest.incoming import NESTED

LONGEST_NUMBER = 38  # digits of a decimal
SCALE = 9  # of a decimal that nobody declared; dlt's too

# Kinds of which one holds the other's values.
WIDER = {
    frozenset(("bigint", "double")): "double",
    frozenset(("bigint", "decimal(38, 0)")): "decimal(38, 0)",
    frozenset(("bigint", "decimal(38, 9)")): "decimal(38, 9)",
    frozenset(("date", "timestamp")): "timestamp",
}


def as_row(item: Any) -> Mapping[str, Any]:
    """A row by column, from a mapping, a dataclass or a pydantic model.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(item, Mapping):
        return item
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return dataclasses.asdict(item)
    if hasattr(item, "model_dump"):
        return dict(item.model_dump())
    raise TypeError(type(item).__name__)


def text_of(value: Any) -> tuple[str | None, str | None]:  # noqa: PLR0912 - a case a type
    """The kind of a value, as the SQL type that holds it, and its text; of null both are None."""
    kind, text = None, None
    match value:
        case None:
            pass
        case Enum():
            return text_of(value.value)
        case bool():
            kind, text = "boolean", str(value).lower()
        case int():
            text = str(value)
            kind = "bigint" if -(2**63) <= value < 2**63 else "decimal(38, 0)"
        case float():
            kind, text = "double", repr(float(value))
        case Decimal():
            kind, text = "decimal(38, 9)", _plain(value)
        case datetime():
            zoned = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            kind, text = (
                ("timestamptz", f"{zoned.isoformat()}Z") if value.tzinfo else ("timestamp", zoned.isoformat())
            )
        case date() | time():
            kind, text = "date" if isinstance(value, date) else "time", value.isoformat()
        case bytes() | bytearray() | memoryview():
            kind, text = "blob", "".join(f"\\x{byte:02X}" for byte in bytes(value))
        case str():
            kind, text = "varchar", str(value)
        case UUID():
            kind, text = "varchar", str(value)
        case Mapping() | Sequence() | set():
            kind, text = NESTED, json.dumps(value, default=_inside, ensure_ascii=False)
        case _ if dataclasses.is_dataclass(value) or hasattr(value, "model_dump"):
            kind, text = NESTED, json.dumps(as_row(value), default=_inside, ensure_ascii=False)
        case _ if hasattr(value, "item"):  # a number of NumPy's
            return text_of(value.item())
        case _:
            raise TypeError(type(value).__name__)
    return kind, text


def wider(one: str, other: str) -> str | None:
    """The kind that holds the values of two, None where none does."""
    return one if one == other else WIDER.get(frozenset((one, other)))


def _plain(number: Decimal) -> str:
    return format(number, "f") if number.is_finite() else str(number)


def _inside(value: Any) -> Any:
    """A value inside of nested data that JSON has no form for."""
    if isinstance(value, set):
        return list(value)
    _, text = text_of(value)
    return json.loads(text) if isinstance(value, Decimal) and value.is_finite() and text else text
