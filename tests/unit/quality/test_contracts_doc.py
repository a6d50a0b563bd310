"""docs/contracts.md: its examples are contracts, whose checks run, and no key is left out."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lakehouse.quality.check_keys import CHECK_KEYS, COMPARISONS, DUPLICATE_OF_TABLE, RANGE_KEYS, UNITS
from lakehouse.quality.contract_checks import ATTRIBUTES, DIMENSIONS
from lakehouse.quality.contract_keys import COLUMN_KEYS, GATES, KEYS
from lakehouse.quality.contracts import Contracts
from lakehouse.quality.distribution.declared import BASELINE, BASELINE_OF_SEASON, LEVELS, ROW_COUNT
from lakehouse.quality.distribution.keys import DISTRIBUTION, FACTOR, OF_COLUMN
from lakehouse.quality.distribution.profile import QUANTILES
from lakehouse.quality.gates import GATES as GATE_CHECKS
from lakehouse.quality.model_docs import Model
from lakehouse.quality.verify import Verifier
from lakehouse.settings import PROJECT_DIR, Settings

DOC = (PROJECT_DIR / "docs/contracts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", DOC, re.DOTALL | re.MULTILINE)
COLUMNS = {
    "order_date": "date",
    "order_id": "bigint",
    "email": "varchar",
    "country": "varchar",
    "quantity": "integer",
    "price": "decimal(10, 2)",
    "ordered_at": "timestamptz",
    "shipped_at": "timestamptz",
    "is_cancelled": "boolean",
}


def contract(table: str, columns: dict[str, str]) -> dict[str, Any]:
    return {
        "dataset": f"lakehouse/silver/{table}",
        "version": "1.0.0",
        "owner": "team:shop",
        "tier": 2,
        "columns": [{"name": name, "data_type": kind} for name, kind in columns.items()],
    }


def whole(example: dict[str, Any]) -> dict[str, Any]:
    """An example as a contract: a part of one takes the place of that part of another."""
    if "dataset" in example:
        return example
    base = contract("orders", COLUMNS)
    own = {column["name"]: column for column in example.get("columns", [])}
    return base | example | {"columns": [own.get(column["name"], column) for column in base["columns"]]}


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_a_contract_whose_checks_run(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "silver"
    folder.mkdir()
    said = {"orders": whole(yaml.safe_load(text)), "countries": contract("countries", {"code": "varchar"})}
    for table, written in said.items():
        (folder / f"{table}.yml").write_text(yaml.safe_dump(written, sort_keys=False))

    contracts = Contracts(tmp_path, {})
    orders = contracts.read("silver.orders")
    model = Model(
        tmp_path, orders.description, {column.name: column.description for column in orders.columns}
    )

    [verdict] = Verifier(contracts, {"silver.orders": model}).verify(["silver.orders"])

    assert verdict.faults == ()


def test_there_are_examples_of_every_type_of_check() -> None:
    assert {kind for kind in DIMENSIONS if f"- {kind}:" not in "".join(EXAMPLES)} == set()


WORDS = {
    *(*KEYS, *COLUMN_KEYS, *GATES, *GATE_CHECKS, *COMPARISONS, *RANGE_KEYS, *UNITS, *DIMENSIONS),
    *(*DISTRIBUTION, *OF_COLUMN, *QUANTILES, *LEVELS, FACTOR, ROW_COUNT),
    *(*DIMENSIONS.values(), *DUPLICATE_OF_TABLE, *(key for keys in CHECK_KEYS.values() for key in keys)),
}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_every_key_is_in_the_reference(word: str) -> None:
    assert f"`{word}`" in DOC


def test_attributes_and_settings_are_as_the_reference_says() -> None:
    assert all(f"attributes: {{{attribute}:" in DOC for attribute in ATTRIBUTES)
    percent = f"{Settings.model_fields['good_rows_percent'].default:g}"
    change = f"{Settings.model_fields['row_count_change_percent'].default:g}"
    assert f"`LAKEHOUSE_GOOD_ROWS_PERCENT`, {percent} |" in DOC
    assert f"`LAKEHOUSE_ROW_COUNT_CHANGE_PERCENT`, {change} |" in DOC
    assert f"| `baseline` | {BASELINE}, with a season {BASELINE_OF_SEASON} |" in DOC
