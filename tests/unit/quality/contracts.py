"""Contracts as the tests of quality write them."""

from pathlib import Path
from typing import Any

import yaml

from lakehouse.quality.contract import Contract, read_contract

COLUMNS = [
    {"name": "id", "data_type": "integer", "description": "The key.", "nullable": False},
    {"name": "kind", "data_type": "varchar"},
    {"name": "at", "data_type": "timestamptz"},
]


def written(table: str = "silver.t", **changes: Any) -> dict[str, Any]:
    """A contract with some keys changed."""
    return {
        "dataset": "lakehouse/" + table.replace(".", "/"),
        "version": "1.0.0",
        "owner": "team:x",
        "tier": 2,
        "columns": COLUMNS,
    } | changes


def with_check(check: Any, column: str | None = None) -> dict[str, Any]:
    """A contract with one check, of a column or of the table."""
    if column is None:
        return written(checks=[check])
    columns = [{**said, "checks": [check]} if said["name"] == column else said for said in COLUMNS]
    return written(columns=columns)


def read(folder: Path, said: dict[str, Any], name: str = "t.yml") -> Contract:
    """A contract, written to a file and read from it."""
    file = folder / name
    file.write_text(yaml.safe_dump(said, sort_keys=False))
    return read_contract(file, str(said["dataset"]).removeprefix("lakehouse/").replace("/", "."))
