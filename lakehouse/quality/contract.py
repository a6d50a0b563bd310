"""A table's contract, `checks/<layer>/<table>.yml`: the one statement about what it is and must hold.

It is a Soda contract with a few keys more. It is read strictly: what is not known is refused, for
Soda passes over some of it in silence.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args
from zoneinfo import available_timezones

from lakehouse.quality.contract_checks import ContractCheck, checks_of
from lakehouse.quality.errors import ContractError

SchemaMode = Literal["evolve", "freeze", "discard_value", "discard_row"]
PiiClass = Literal["none", "personal", "sensitive"]
TIERS = (1, 2, 3)
VERSION = re.compile(r"\d+\.\d+\.\d+")

REQUIRED_KEYS = ("dataset", "version", "owner", "tier", "columns")
KEYS = (*REQUIRED_KEYS, "description", "schema_mode", "timezone", "gates", "checks")
GATE_KEYS = ("good_rows_percent", "row_count_change_percent", "may_be_empty")
COLUMN_KEYS = ("name", "data_type", "description", "nullable", "pii", "zone", "optional", "checks")


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

    @property
    def quarantining(self) -> tuple[ContractCheck, ...]:
        """The checks whose failing rows are set aside."""
        return tuple(check for check in self.checks if check.quarantines)

    @property
    def refers_to(self) -> frozenset[str]:
        """Other tables, as `layer.table`, that a check names."""
        return frozenset().union(*(check.refers_to for check in self.checks)) - {self.table}


def read_contract(file: Path, table: str) -> Contract:
    """Read the contract of a table.

    Raises:
        ContractError: there is none, or it is not a contract of this table; the message names all faults.
    """
    import yaml

    if not file.exists():
        raise ContractError(
            f"{table} has no contract. Write {file}, or let `lakehouse contract new {table}` draft it."
        )
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ContractError(f"{file} is not YAML: {error}") from error
    faults = list(_faults(said, table)) if isinstance(said, dict) else ["it holds no keys"]
    if faults:
        raise ContractError(f"{file}: " + "; ".join(faults) + ".")
    columns = tuple(_column(column) for column in said["columns"])
    not_null = [column.name for column in columns if not column.nullable]
    try:
        checks = checks_of(said, not_null)
    except ContractError as error:
        raise ContractError(f"{file}: {error}") from error
    return Contract(
        table=table,
        version=said["version"],
        owner=said["owner"],
        tier=said["tier"],
        columns=columns,
        checks=checks,
        description=" ".join(said.get("description", "").split()),
        schema_mode=said.get("schema_mode", "evolve"),
        timezone=said.get("timezone", "UTC"),
        gates=said.get("gates", {}),
    )


def _faults(said: Mapping[str, Any], table: str) -> Iterable[str]:
    """What keeps this from being a contract of the table."""
    yield from _key_faults(said, KEYS, REQUIRED_KEYS, "the contract")
    expected = "lakehouse/" + table.replace(".", "/")
    if said.get("dataset", expected) != expected:
        yield f"dataset is {said['dataset']!r}, but this is the file of {expected!r}"
    if not VERSION.fullmatch(str(said.get("version", "1.0.0"))) or not isinstance(
        said.get("version", ""), str
    ):
        yield f'version {said["version"]!r} is not three numbers in quotes such as "1.0.0"'
    if said.get("tier", 1) not in TIERS:
        yield f"tier is {said['tier']!r}; known are 1, 2 and 3"
    if said.get("schema_mode", "evolve") not in get_args(SchemaMode):
        yield f"schema_mode is {said['schema_mode']!r}; known are {', '.join(get_args(SchemaMode))}"
    if said.get("timezone", "UTC") not in available_timezones():
        yield f"timezone is {said['timezone']!r}, which is no time zone such as America/New_York"
    gates = said.get("gates", {})
    if isinstance(gates, dict):
        yield from _key_faults(gates, GATE_KEYS, (), "gates")
    else:
        yield "gates is no mapping"
    columns = said.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        yield "columns is no list of columns"
        return
    seen: set[str] = set()
    for column in columns:
        name = str(column.get("name", "?"))
        yield from _key_faults(column, COLUMN_KEYS, ("name", "data_type"), f"column {name}")
        if column.get("pii", "none") not in get_args(PiiClass):
            yield f"column {name}: pii is {column['pii']!r}; known are {', '.join(get_args(PiiClass))}"
        if name in seen:
            yield f"column {name} is there twice"
        seen.add(name)


def _key_faults(
    said: Mapping[str, Any], known: tuple[str, ...], required: tuple[str, ...], where: str
) -> Iterable[str]:
    for key in said:
        if key not in known:
            yield f"{where} has the unknown key {key!r}; known are {', '.join(known)}"
    for key in required:
        if not said.get(key):
            yield f"{where} has no {key}"


def _column(said: Mapping[str, Any]) -> ContractColumn:
    return ContractColumn(
        name=said["name"],
        type=said["data_type"],
        description=" ".join(said.get("description", "").split()),
        nullable=said.get("nullable", True),
        pii=said.get("pii", "none"),
        zone=said.get("zone"),
        optional=said.get("optional", False),
    )
