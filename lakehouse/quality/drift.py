"""Source, contract and table laid beside each other: every column that differs, and what became of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakehouse.quality.check_result import FAILED, PASSED, WARNED, CheckResult
from lakehouse.quality.contract import Contract
from lakehouse.quality.gates import COLUMNS
from lakehouse.storage.sql import identifier
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.schema import Schema

NOTHING = "-"  # in a cell of what does not have the column


@dataclass(frozen=True)
class Arrival:
    """How a column came from the source, where that is not as its contract or its table has it.

    Args:
        column: what the table calls it.
        source: what the source has, empty if it has nothing.
        done: what was done with it.
        warns: whether somebody should know.
    """

    column: str
    source: str
    done: str
    warns: bool = False


@dataclass(frozen=True)
class Rows:
    """The columns of the rows that are about to be published.

    Args:
        staged: of their files.
        given: of the query that gave them, which the files may have wider; None: those of the files.
        arrivals: what the source's columns were, where they differ.
        held: of the table before; None if there is none.
    """

    staged: "Schema"
    given: "Schema | None" = None
    arrivals: Sequence[Arrival] = ()
    held: "Schema | None" = None


@dataclass
class Difference:
    """One column that is not the same in source, contract and table.

    Args:
        blocks: why the rows must not be published.
        warns: what somebody should know.
        done: what was done, and is as declared.
    """

    column: str
    source: str = ""
    blocks: list[str] = field(default_factory=list)
    warns: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)


def columns(
    contract: Contract, declared: "Schema", rows: Rows | None, known: frozenset[str] = frozenset()
) -> CheckResult:
    """Whether the rows have the contract's columns, and every difference that there is.

    Args:
        declared: the contract's columns, as a table has them.
        rows: None if there are none.
        known: columns that need no declaration.
    """
    if rows is None:
        return CheckResult(COLUMNS, PASSED, True, note="no rows whose columns could differ")
    found = _differences(types_of(declared), declared.column_names, rows, known)
    blocks = [said for difference in found for said in difference.blocks]
    warns = [said for difference in found for said in difference.warns]
    written = {column.name: column.type for column in contract.columns}
    return CheckResult(
        COLUMNS,
        FAILED if blocks else WARNED if warns else PASSED,
        True,
        float(len(blocks) + len(warns)),
        "must be 0",
        {"differences": float(len(found))},
        "; ".join(blocks + warns),
        differences=[_shown(difference, written, rows.held) for difference in found],
    )


def _differences(
    declared: Mapping[str, str], paths: Sequence[str], rows: Rows, known: frozenset[str]
) -> list[Difference]:
    """Each column that differs, the contract's first."""
    staged = types_of(rows.staged)
    held = types_of(rows.held) if rows.held else {}
    arrived = {arrival.column: arrival.source for arrival in rows.arrivals}
    names = dict.fromkeys([*declared, *staged, *held, *arrived])
    found = {name: Difference(name, arrived.get(name, "")) for name in names}
    for arrival in dict.fromkeys(rows.arrivals):
        said = found[arrival.column]
        if arrival.warns:
            said.warns.append(f"{arrival.column} {arrival.done}")
        else:
            said.done.append(arrival.done)
    _lay_beside_contract(found, declared, paths, rows, known)
    if held and not any(said.blocks for said in found.values()):
        _lay_beside_table(found, held, staged)
    return [said for said in found.values() if said.blocks or said.warns or said.done]


def _lay_beside_contract(
    found: Mapping[str, Difference],
    declared: Mapping[str, str],
    paths: Sequence[str],
    rows: Rows,
    known: frozenset[str],
) -> None:
    given = rows.given or rows.staged
    present = {*given.column_names}
    missing = [path for path in paths if path not in present]
    for path in missing:
        if path.rpartition(".")[0] not in missing:
            found[path.partition(".")[0]].blocks.append(f"{path} is missing")
    came = types_of(given)
    for name, kind in types_of(rows.staged).items():
        if name in declared and kind != declared[name]:
            found[name].blocks.append(f"{name} is {kind}, declared {declared[name]}")
        elif came.get(name, kind) != kind:
            found[name].done.append(f"comes as {came[name]}, and is cast to {kind}")
        if name not in declared and name not in known and not found[name].warns:
            kept = "is not declared, and is kept"
            gone = "is in the table alone, and is null in these rows"
            found[name].warns.append(f"{name} ({kind}) {kept if name in present else gone}")


def _lay_beside_table(
    found: Mapping[str, Difference],
    held: Mapping[str, str],
    staged: Mapping[str, str],
) -> None:
    for name, kind in staged.items():
        if name not in held:
            found[name].done.append("is added to the table")
        elif held[name] != kind:
            found[name].done.append(f"is {held[name]} in the table, and becomes {kind}")
    for name in held:
        if name not in staged:
            left_out = "is left out of the table, of which every row is replaced"
            found[name].warns.append(f"{name} {left_out}")


def _shown(said: Difference, written: Mapping[str, str], held: "Schema | None") -> dict[str, str]:
    """The difference as a row of the table that people see."""
    table = types_of(held) if held else {}
    return {
        "column": said.column,
        "source": said.source or NOTHING,
        "contract": written.get(said.column, NOTHING),
        "table before": table.get(said.column, NOTHING),
        "what was done": "; ".join([*(f"refused: {why}" for why in said.blocks), *said.warns, *said.done]),
    }


def declared_schema(contract: Contract, connection: "DuckDBPyConnection") -> "Schema":
    """The contract's columns, as a table has them."""
    casts = ", ".join(
        f"cast(null as {column.type}) as {identifier(column.name)}" for column in contract.columns
    )
    return to_iceberg_schema(describe(connection, f"select {casts}"))


def types_of(schema: "Schema") -> dict[str, str]:
    """A schema's types by column, without the ids of nested fields, which depend on the columns' order."""
    return {field.name: re.sub(r"\b\d+: ", "", str(field.field_type)) for field in schema.fields}
