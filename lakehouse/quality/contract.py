"""A table's contract, `checks/<layer>/<table>.yml`: the one statement about what it is and must hold.

It is a Soda contract with a few keys more. It is read strictly: what is not known is refused, for
Soda passes over some of it in silence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse.quality.contract_checks import ContractCheck, checks_of
from lakehouse.quality.contract_keys import PiiClass, SchemaMode, contract_faults
from lakehouse.quality.errors import ContractError
from lakehouse.quality.strict_yaml import read_yaml

# In SQL, or as Soda writes it: lakehouse/silver/airports.
TABLE_NAME = re.compile(r"\b((?:bronze|silver|gold)[./]\w+)")


@dataclass(frozen=True)
class ContractColumn:
    """A column as the contract declares it.

    Args:
        nullable: whether a row may be without a value.
        pii: whether its values say something of a person.
        zone: of a timestamptz, the time zone of times that name none.
        optional: whether the source may leave the column out.
    """

    name: str
    type: str
    description: str = ""
    nullable: bool = True
    pii: PiiClass = "none"
    zone: str | None = None
    optional: bool = False


@dataclass(frozen=True)
class Gates:
    """What every partition, or table, must pass whatever its contract's checks are.

    Args:
        good_rows_percent: rows that quarantine may not fall below.
        row_count_change_percent: how far a partition's rows may be off the median of those before it;
            None: any number of rows is right.
        may_be_empty: whether no rows at all may be right.
    """

    good_rows_percent: float = 95.0
    row_count_change_percent: float | None = 50.0
    may_be_empty: bool = False


@dataclass(frozen=True)
class Contract:
    """A contract, read and found to be one.

    Args:
        table: `layer.table`.
        tier: 1, 2 or 3, by how much depends on the table.
        timezone: whose midnight a partition ends at.
    """

    table: str
    version: str
    owner: str
    tier: int
    columns: tuple[ContractColumn, ...]
    checks: tuple[ContractCheck, ...] = ()
    description: str = ""
    schema_mode: SchemaMode = "evolve"
    timezone: str = "UTC"
    gates: Gates = Gates()

    @property
    def quarantining(self) -> tuple[ContractCheck, ...]:
        """The checks whose failing rows are set aside."""
        return tuple(check for check in self.checks if check.quarantines)

    @property
    def refers_to(self) -> frozenset[str]:
        """Other tables, as `layer.table`, that a check names."""
        named = {name for check in self.checks for name in TABLE_NAME.findall(str(check.body))}
        return frozenset(name.replace("/", ".") for name in named) - {self.table}


def read_contract(file: Path, table: str, gates: Gates = Gates()) -> Contract:
    """Read the contract of a table.

    Args:
        gates: the project's, where the contract says nothing else.

    Raises:
        ContractError: there is none, or it is not a contract of this table; the message names all faults.
    """
    if not file.exists():
        raise ContractError(
            f"{table} has no contract. Write {file}, or let `lakehouse contract new {table}` draft it."
        )
    said = read_yaml(file)
    faults = list(_faults(said, table)) if isinstance(said, dict) else ["it holds no keys"]
    if faults:
        raise ContractError(f"{file}: " + "; ".join(faults) + ".")
    columns = tuple(_column(column) for column in said["columns"])
    checks = checks_of(said, _not_null(said["columns"]))
    limits = Gates(**{**vars(gates), **(said.get("gates") or {})})
    return Contract(
        table=table,
        version=said["version"],
        owner=said["owner"],
        tier=said["tier"],
        columns=columns,
        checks=checks,
        description=" ".join((said.get("description") or "").split()),
        schema_mode=said.get("schema_mode", "evolve"),
        timezone=said.get("timezone", "UTC"),
        gates=limits,
    )


def _faults(said: Mapping[str, Any], table: str) -> Iterator[str]:
    """What keeps this from being a contract of the table."""
    yield from contract_faults(said, table)
    columns = said.get("columns")
    if not isinstance(columns, list) or not all(
        isinstance(column, dict)
        and isinstance(column.get("name"), str)
        and isinstance(column.get("checks") or [], list)
        for column in columns
    ):
        return  # as said above; the checks are below
    if isinstance(said.get("checks") or [], list):
        try:
            checks_of(said, _not_null(columns))
        except ContractError as error:
            yield str(error)


def _not_null(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    return [column["name"] for column in columns if not column.get("nullable", True)]


def _column(said: Mapping[str, Any]) -> ContractColumn:
    return ContractColumn(
        name=said["name"],
        type=said["data_type"],
        description=" ".join((said.get("description") or "").split()),
        nullable=said.get("nullable", True),
        pii=said.get("pii", "none"),
        zone=said.get("zone"),
        optional=said.get("optional", False),
    )
