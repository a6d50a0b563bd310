"""What a person must not read of rows in quarantine: values of columns that say something of a person.

Names are compared by their letters and digits alone: a raw row has them as the source writes them.
"""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakehouse.quality.contract import Contract

MASKED = "***"
OTHER = re.compile(r"[^a-z0-9]")
WORD = re.compile(r"\w+")


def masked_columns(contract: "Contract | None") -> frozenset[str]:
    """The columns whose values are not shown."""
    return frozenset(c.name for c in contract.columns if c.pii != "none") if contract else frozenset()


def hidden(value: str | None, masked: bool) -> str | None:
    """A value, or what stands for one that is masked; that there is none is no secret."""
    return MASKED if masked and value is not None else value


class Mask:
    """Hides the values of some columns in what quarantine says of a row."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = {_bare(column) for column in columns}

    def value(self, column: str | None, value: str | None) -> str | None:
        """The value that is to blame, masked if its column is."""
        return hidden(value, column is not None and _bare(column) in self.columns)

    def raw(self, raw: str | None) -> str | None:
        """The row as it came; all of it is masked where it has no columns to tell apart."""
        if not self.columns or raw is None:
            return raw
        row = _parsed(raw)
        if row is None:
            return MASKED
        masked = {name for name, value in row.items() if _bare(name) in self.columns and value is not None}
        if not masked:
            return raw
        shown = {name: MASKED if name in masked else value for name, value in row.items()}
        return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))

    def reason(self, reason: str | None, raw: str | None) -> str | None:
        """What is wrong, up to the first masked column that it names: then comes that column's value."""
        if not self.columns or reason is None:
            return reason
        if raw is not None and _parsed(raw) is None:  # DuckDB quotes what it could not read
            return MASKED
        for word in WORD.finditer(reason):
            if _bare(word[0]) in self.columns:
                return f"{reason[: word.end()]} {MASKED}"
        return reason


def _bare(name: str) -> str:
    return OTHER.sub("", name.lower())


def _parsed(raw: str) -> dict[str, Any] | None:
    try:
        row = json.loads(raw)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
