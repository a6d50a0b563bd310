"""Declared columns of a Bronze table, read from its contract in `checks/bronze/`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast
from zoneinfo import available_timezones

from lakehouse.quality.contract import Contract, read_contract

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
    """The columns of a contract, which says more than they do."""

    contract: Contract


def read_columns(contract: Path) -> DeclaredColumns:
    """The columns of a contract (`<layer>/<table>.yml`), in its order.

    Raises:
        ContractError: there is none, or it is not one.
        ValueError: a column has an unknown type or zone.
    """
    read = read_contract(contract, f"{contract.parent.name}.{contract.stem}")
    columns = DeclaredColumns(
        Column(column.name, column.type, column.description, column.zone, column.optional)
        for column in read.columns
    )
    columns.contract = read
    return columns
