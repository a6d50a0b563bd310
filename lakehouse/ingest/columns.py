"""Declared columns of a Bronze table, read from its contract in `checks/bronze/`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from zoneinfo import available_timezones

if TYPE_CHECKING:
    from dlt.common.data_types import TDataType
    from dlt.common.schema.typing import TColumnSchema

# SQL type to dlt's type of the same values; a decimal is matched by its first word.
DLT_TYPES = {
    "boolean": "bool",
    "integer": "bigint",
    "bigint": "bigint",
    "double": "double",
    "varchar": "text",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "decimal": "decimal",
    "json": "json",
    "blob": "binary",
}
WHOLE_NUMBERS = ("integer", "bigint")

# What a load does with a column that is new, and with a value that is none of its column's type.
SchemaMode = Literal["evolve", "freeze", "discard_value", "discard_row"]


@dataclass(frozen=True)
class Column:
    """A column as the contract declares it.

    Args:
        type: a SQL type such as `integer` or `timestamptz`.
        zone: of a timestamptz, the time zone of times that name none.
        optional: whether the source may leave the column out.
    """

    name: str
    type: str
    description: str = ""
    zone: str | None = None
    optional: bool = False

    def __post_init__(self) -> None:
        if self.type.split("(")[0] not in DLT_TYPES:
            raise ValueError(
                f"Column {self.name} has the unknown type {self.type!r}; known are {', '.join(DLT_TYPES)}."
            )
        if self.zone is not None and (self.type != "timestamptz" or self.zone not in available_timezones()):
            raise ValueError(
                f"Column {self.name}: {self.zone!r} is no time zone such as America/New_York"
                if self.type == "timestamptz"
                else f"Column {self.name}: a zone is for a timestamptz, not for a {self.type}."
            )

    def dlt_hint(self) -> "TColumnSchema":
        """The column in dlt's schema, so that it exists there even if every value is null."""
        hint: TColumnSchema = {
            "name": self.name,
            "data_type": cast("TDataType", DLT_TYPES[self.type.split("(")[0]]),
            "nullable": True,
        }
        if self.type in ("timestamp", "timestamptz"):
            hint["timezone"] = self.type == "timestamptz"
        return hint


class DeclaredColumns(tuple[Column, ...]):
    """A contract's columns, and its schema mode."""

    schema_mode: SchemaMode = "evolve"


def read_columns(contract: Path) -> DeclaredColumns:
    """The columns of a contract, in its order.

    Raises:
        ValueError: a column has no name or an unknown type, or the schema mode is none.
        FileNotFoundError: there is no such contract.
    """
    import yaml

    if not contract.exists():
        raise FileNotFoundError(f"{contract} is missing: every Bronze table declares its columns there.")
    declared = yaml.safe_load(contract.read_text(encoding="utf-8"))
    columns = DeclaredColumns(map(_column, declared["columns"]))
    columns.schema_mode = declared.get("schema_mode", "evolve")
    if columns.schema_mode not in get_args(SchemaMode):
        raise ValueError(
            f"{contract} has the schema_mode {columns.schema_mode!r}; "
            f"known are {', '.join(get_args(SchemaMode))}."
        )
    return columns


def _column(declared: dict[str, Any]) -> Column:
    return Column(
        declared["name"],
        declared["data_type"],
        declared.get("description", "").strip(),
        declared.get("zone"),
        declared.get("optional", False),
    )
