"""The checks of a contract: their names, what they are of, and what a failure leads to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lakehouse.quality.check_keys import check_faults
from lakehouse.quality.errors import ContractError
from lakehouse.storage.sql import identifier

Dimension = Literal["freshness", "completeness", "uniqueness", "validity", "drift"]

# Soda's check types, and what each is about unless `attributes: {dimension: …}` says otherwise.
DIMENSIONS: Mapping[str, Dimension] = {
    "missing": "completeness",
    "row_count": "completeness",
    "duplicate": "uniqueness",
    "invalid": "validity",
    "failed_rows": "validity",
    "aggregate": "validity",
    "metric": "validity",
    "freshness": "freshness",
}
# Those that can tell a bad row from a good one by itself.
OF_ROWS = ("missing", "invalid", "failed_rows")
# In SQL, or as Soda writes it: lakehouse/silver/airports.
TABLE_NAME = re.compile(r"\b((?:bronze|silver|gold)[./]\w+)")
REQUIRED = "completeness_required_columns"
ATTRIBUTES = ("dimension", "quarantine")


@dataclass(frozen=True)
class ContractCheck:
    """One check.

    Args:
        name: unique in the contract; begins with the dimension.
        type: Soda's.
        column: that it is declared under; None: it is the table's.
        body: what the contract says of it.
        quarantines: its failing rows are set aside, and the others go on.
    """

    name: str
    type: str
    dimension: Dimension
    column: str | None
    body: Mapping[str, Any] = field(default_factory=dict)
    quarantines: bool = False

    @property
    def warns(self) -> bool:
        """Whether a failure lets the rows pass; of two thresholds one always fails."""
        threshold = self.body.get("threshold") or {}
        return threshold.get("level") == "warn" and "additional" not in threshold

    @property
    def blocks(self) -> bool:
        """Whether a failure keeps the rows from being published."""
        return not self.warns and not self.quarantines

    @property
    def refers_to(self) -> frozenset[str]:
        """The tables, as `layer.table`, that it names."""
        said = str({key: value for key, value in self.body.items() if key != "name"})
        return frozenset(name.replace("/", ".") for name in TABLE_NAME.findall(said))

    @property
    def description(self) -> str:
        """One line for people."""
        said = self.body.get("name") or f"{self.type.replace('_', ' ')} {self.column or ''}".strip()
        fate = "bad rows go to quarantine" if self.quarantines else "warns" if self.warns else "blocks"
        return f"{said} ({fate})"


def checks_of(said: Mapping[str, Any], not_null: Sequence[str]) -> tuple[ContractCheck, ...]:
    """The checks of a contract, and one for the columns that are declared not to be null.

    Raises:
        ContractError: a check is none, or two have one name; the message names all faults.
    """
    checks: dict[str, ContractCheck] = {}
    faults: list[str] = []
    explicit = {
        column for column, written in _written(said) if isinstance(written, dict) and "missing" in written
    }
    if required := [column for column in not_null if column not in explicit]:
        checks[REQUIRED] = _required(required)
    for column, written in _written(said):
        try:
            check = _check(column, written)
        except ContractError as error:
            faults.append(str(error))
            continue
        if check.name in checks:
            faults.append(f"two checks are called {check.name}; give one of them a `qualifier`")
        checks[check.name] = check
    if faults:
        raise ContractError("; ".join(faults))
    return tuple(checks.values())


def _required(columns: Sequence[str]) -> ContractCheck:
    """One check for all columns that are never null."""
    return ContractCheck(
        name=REQUIRED,
        type="failed_rows",
        dimension="completeness",
        column=None,
        body={
            "name": f"every row has {', '.join(columns)}",
            "qualifier": "required_columns",
            "expression": " or ".join(f"{identifier(column)} is null" for column in columns),
        },
    )


def _written(said: Mapping[str, Any]) -> Iterator[tuple[str | None, Any]]:
    for column in said["columns"]:
        yield from ((column["name"], check) for check in column.get("checks") or [])
    yield from ((None, check) for check in said.get("checks") or [])


def _check(column: str | None, written: Any) -> ContractCheck:
    where = f"column {column}" if column else "the table"
    kind, body = _kind_and_body(where, written)
    called = f"the check {kind} of {where}"
    if faults := [*check_faults(kind, column, body), *_attribute_faults(body.get("attributes"))]:
        raise ContractError("; ".join(f"{called}: {fault}" for fault in faults))
    attributes = body.get("attributes", {})
    dimension = attributes.get("dimension", DIMENSIONS[kind])
    check = ContractCheck(
        name=f"{dimension}_{_label(kind, column, body, where)}",
        type=kind,
        dimension=dimension,
        column=column,
        body=body,
        quarantines=attributes.get("quarantine", False),
    )
    if check.quarantines and (kind not in OF_ROWS or "query" in body or check.warns or "threshold" in body):
        raise ContractError(
            f"{check.name} cannot quarantine: that takes a check of single rows ({', '.join(OF_ROWS)} "
            "with an expression), and no threshold, since no bad row is left"
        )
    return check


def _kind_and_body(where: str, written: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(written, dict) or len(written) != 1:
        raise ContractError(f"a check of {where} is not written as `- type:` with its arguments below it")
    [(kind, body)] = written.items()
    if kind not in DIMENSIONS:
        raise ContractError(
            f"{where} has a check of the unknown type {kind!r}; known are {', '.join(DIMENSIONS)}"
        )
    if not isinstance(body, dict | None):
        raise ContractError(f"the check {kind} of {where} has {body!r} below it, not its arguments")
    return kind, body or {}


def _attribute_faults(said: Any) -> Iterator[str]:
    if not isinstance(said, dict):  # `check_faults` names what is neither a mapping nor left out
        return
    for key in said:
        if key not in ATTRIBUTES:
            yield f"unknown attribute {key!r}; known are {', '.join(ATTRIBUTES)}"
    if said.get("dimension", "validity") not in get_args(Dimension):
        yield f"{said['dimension']!r} is no dimension; known are {', '.join(get_args(Dimension))}"
    if not isinstance(said.get("quarantine", False), bool):
        yield f"quarantine is {said['quarantine']!r}, neither true nor false"


def _label(kind: str, column: str | None, body: Mapping[str, Any], where: str) -> str:
    """What tells a check from the others of its dimension."""
    parts = [column, body.get("function") if kind == "aggregate" else None]
    if column is None:
        match kind:
            case "duplicate":
                parts.append("_".join(body.get("columns") or []))
            case "freshness":
                parts.append(body.get("column"))
            case "row_count":
                parts.append("row_count")
    label = "_".join(part for part in (*parts, body.get("qualifier")) if part)
    if not label:
        raise ContractError(f"the check {kind} of {where} needs a `qualifier`, by which it is called")
    return re.sub(r"\W+", "_", label)
