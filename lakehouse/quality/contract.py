"""A table's contract, `checks/<layer>/<table>.yml`: the one statement about what it is and must hold.

It is a Soda contract with a few keys more. It is read strictly: what is not known is refused, for
Soda passes over some of it in silence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakehouse.quality.contract_checks import ContractCheck, checks_of
from lakehouse.quality.contract_keys import PiiClass, SchemaMode, contract_faults
from lakehouse.quality.distribution.declared import Distribution, DistributionCheck, distribution_of
from lakehouse.quality.errors import ContractError
from lakehouse.quality.strict_yaml import read_yaml


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
class Contract:
    """A contract, read and found to be one.

    Args:
        table: `layer.table`.
        tier: 1, 2 or 3, by how much depends on the table.
        timezone: whose midnight a partition ends at.
        gates: what it says of `Gates`; the rest is the project's.
        freshness: the hours in which a partition, or a load, must come.
        distribution: what a partition is compared with those before it by; None: it is not.
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
    gates: Mapping[str, Any] = field(default_factory=dict)
    freshness: Mapping[str, float] = field(default_factory=dict)
    distribution: Distribution | None = None

    @property
    def quarantining(self) -> tuple[ContractCheck, ...]:
        """The checks whose failing rows are set aside."""
        return tuple(check for check in self.checks if check.quarantines)

    @property
    def comparisons(self) -> tuple[DistributionCheck, ...]:
        """The checks that compare a partition with those before it."""
        return self.distribution.checks if self.distribution else ()

    @property
    def check_names(self) -> tuple[str, ...]:
        """All that it asks, by name."""
        return (*(check.name for check in self.checks), *(check.name for check in self.comparisons))

    @property
    def refers_to(self) -> frozenset[str]:
        """Other tables, as `layer.table`, that a check names."""
        return frozenset().union(*(check.refers_to for check in self.checks)) - {self.table}


def read_contract(file: Path, table: str) -> Contract:
    """Read the contract of a table.

    Raises:
        ContractError: there is none, or it is not a contract of this table; the message names all faults.
    """
    if not file.exists():
        raise ContractError(f"{table} has no contract. Write {file}; the other contracts show how.")
    return contract_from(read_yaml(file), table, file)


def contract_from(said: Any, table: str, file: Path) -> Contract:
    """The contract of a table, of what its file holds.

    Raises:
        ContractError: it is not a contract of this table; the message names the file and all faults.
    """
    faults = list(_faults(said, table)) if isinstance(said, dict) else ["it holds no keys"]
    if faults:
        raise ContractError(f"{file}: " + "; ".join(faults) + ".")
    columns = tuple(_column(column) for column in said["columns"])
    checks = checks_of(said, _not_null(said["columns"]))
    types = {column.name: column.type for column in columns}
    compared = said.get("distribution")
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
        gates=said.get("gates") or {},
        freshness=said.get("freshness") or {},
        distribution=distribution_of(compared, types) if compared else None,
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
