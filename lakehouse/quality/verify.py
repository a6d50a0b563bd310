"""Whether a contract can be judged by, and agrees with the model and the table that it is of."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_checks import REQUIRED
from lakehouse.quality.contracts import Contracts
from lakehouse.quality.drift import declared_schema, types_of
from lakehouse.quality.errors import ContractError
from lakehouse.quality.model_docs import Model, model_faults
from lakehouse.quality.soda import SodaContract
from lakehouse.quality.todo import unfinished
from lakehouse.storage.errors import StorageError, reason
from lakehouse.storage.sql import identifier, qualified
from lakehouse.storage.tables import load_table
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

# The sentence in what Soda says of a query that failed, which quotes all of the SQL.
_ENGINE_SAYS = re.compile(r"\w+ Error: ([^\n]+)")


@dataclass(frozen=True)
class Verdict:
    """What was found of one contract.

    Args:
        faults: what is wrong; none if nothing is.
        notes: what is not wrong, and worth a look.
        agrees_with: beside which it was laid.
    """

    table: str
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    agrees_with: tuple[str, ...] = ()
    size: str = ""

    def line(self) -> str:
        """The verdict as one line."""
        agrees = f", agrees with {' and '.join(self.agrees_with)}" if self.agrees_with else ""
        text = "; ".join(self.faults) or "; ".join((f"{self.size}{agrees}", *self.notes))
        return f"{'wrong' if self.faults else 'ok':<6} {self.table:<34} {' '.join(text.split())}"


@dataclass(frozen=True)
class Verifier:
    """Lays contracts beside what they are of.

    Args:
        models: dbt's, by table.
        catalog: where the tables are, None if nowhere yet.
        read_bronze: reads a Bronze contract as a load does; raises ValueError for what it cannot load.
    """

    contracts: Contracts
    models: Mapping[str, Model]
    catalog: "Catalog | None" = None
    read_bronze: Callable[[Path], object] = field(default=lambda _: None)

    def verify(self, tables: Sequence[str] = ()) -> Iterator[Verdict]:
        """A verdict on each of the tables; without any, on all that have a contract or a model."""
        for file in self.contracts.misplaced() if not tables else []:
            yield Verdict(file.name, (f"{file} is read by nothing: name it <layer>/<table>.yml",))
        for table in tables or sorted({*self.contracts.tables(), *self.models}):
            try:
                yield self._verdict(self.contracts.read(table))
            except ContractError as error:
                yield Verdict(table, (str(error),))

    def _verdict(self, contract: Contract) -> Verdict:
        faults = list(type_faults(contract))
        notes = list(unfinished(contract))
        agrees: list[str] = []
        if contract.table.startswith("bronze."):
            faults = faults or list(self._load_faults(contract.table))
        else:
            faults += model_faults(contract, self.models)
            agrees.append("its model")
        if not faults:
            faults += list(reference_faults(contract, self.contracts)) or list(
                rehearsal_faults(contract, self.contracts)
            )
            try:
                table = load_table(self.catalog, contract.table) if self.catalog else None
                if table is not None:
                    held = types_of(table.schema())
                    faults += table_faults(contract, held)
                    notes += undeclared(self.contracts.columns(contract.table), held)
                    agrees.append("its table")
            except (
                Exception
            ) as error:  # its metadata is gone, damaged or forbidden: each IO has its own errors
                faults.append(f"the table cannot be read: {reason(error)}")
        size = f"{len(contract.columns)} columns, {len(contract.check_names)} checks"
        return Verdict(contract.table, tuple(faults), tuple(notes), tuple(agrees), size)

    def _load_faults(self, table: str) -> Iterator[str]:
        try:
            self.read_bronze(self.contracts.file(table))
        except ValueError as error:
            yield str(error)


def type_faults(contract: Contract) -> Iterator[str]:
    """Columns whose type DuckDB does not know, or Iceberg cannot hold."""
    import duckdb

    connection = duckdb.connect()
    for column in contract.columns:
        try:
            types = describe(connection, f"select cast(null as {column.type}) as {identifier(column.name)}")
            to_iceberg_schema(types)
        except duckdb.Error:
            types = {}
        except StorageError as error:
            yield str(error)
            continue
        if len(types) != 1:
            yield f"column {column.name} has the unknown type {column.type!r}"


def reference_faults(contract: Contract, contracts: Contracts) -> Iterator[str]:
    """Columns and tables that a check names and that no contract has."""
    own = contracts.columns(contract.table)
    for check in contract.checks:
        named = [*check.body.get("columns", []), *filter(None, [check.body.get("column")])]
        for column in named:
            if column not in own:
                yield f"{check.name} names the unknown column {column}"
        if refers := check.body.get("valid_reference_data"):
            table = ".".join(refers["dataset"].split("/")[1:])
            try:
                if refers["column"] not in contracts.columns(table):
                    yield f"{check.name} refers to {table}, which has no column {refers['column']}"
            except ContractError as error:
                yield f"{check.name} refers to {refers['dataset']}: {error}"


def rehearsal_faults(contract: Contract, contracts: Contracts) -> Iterator[str]:
    """What Soda and DuckDB say of the checks, evaluated on tables without rows."""
    import duckdb

    connection = duckdb.connect()
    try:
        for table in sorted({contract.table, *contract.refers_to} & {*contracts.tables()}):
            _show_empty(connection, table, contracts.columns(table))
        if not SodaContract(contract, connection).rehearse():
            return
        for check in contract.checks:  # one at a time: a fault does not say whose it is
            faults = SodaContract(replace(contract, checks=(check,)), connection).rehearse()
            said = (found.group(1) if (found := _ENGINE_SAYS.search(fault)) else fault for fault in faults)
            name = "nullable: false" if check.name == REQUIRED else check.name
            yield from (f"{name} cannot be evaluated: {why}" for why in dict.fromkeys(said))
    except ContractError as error:
        yield str(error)


def _show_empty(connection: "DuckDBPyConnection", table: str, columns: Mapping[str, str]) -> None:
    casts = ", ".join(f"cast(null as {kind}) as {identifier(name)}" for name, kind in columns.items())
    connection.execute(f"create schema if not exists {identifier(table.partition('.')[0])}")
    connection.execute(f"create view {qualified(table)} as select {casts} where false")


def table_faults(contract: Contract, held: Mapping[str, str]) -> Iterator[str]:
    """Where a table has other columns than its contract.

    Args:
        held: the Iceberg types of the table's columns.
    """
    import duckdb

    for name, kind in types_of(declared_schema(contract, duckdb.connect())).items():
        if name not in held:
            yield f"the table lacks the column {name}: build it again"
        elif held[name] != kind:
            yield f"column {name} is {held[name]} in the table, declared {kind}: build it again or correct it"


def undeclared(known: Mapping[str, str], held: Mapping[str, str]) -> Iterator[str]:
    """Columns of a table that its contract does not speak of."""
    if new := [name for name in held if name not in known]:
        yield f"the table has {', '.join(new)}, undeclared"
