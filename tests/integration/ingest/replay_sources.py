"""Sources that add to their table, with a contract that can be mended, for the tests of replays."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from sources import Lake, python_source

from lakehouse.ingest.columns import DeclaredColumns, read_columns
from lakehouse.ingest.load import LoadReport
from lakehouse.ingest.replay import replay
from lakehouse.ingest.source import BronzeSource
from lakehouse.storage.merge import MergeKey

CONTRACT = """\
dataset: lakehouse/bronze/t
version: "1.0.0"
owner: team:tests
tier: 3
timezone: America/New_York
schema_mode: {mode}
gates: {{good_rows_percent: {good}}}
columns:
- {{name: id, data_type: integer}}
- {{name: version, data_type: integer}}
- name: price
  data_type: {price}
  checks:
  - invalid: {{name: a price, valid_max: {most}, attributes: {{quarantine: true}}}}
- {{name: sold_at, data_type: timestamptz, optional: true}}
{checks}
"""
NEWEST = MergeKey(("id",), cursor="version")
LAST = MergeKey(("id",))
Row = Mapping[str, Any]


def contract(
    folder: Path,
    *,
    most: int = 10,
    price: str = "decimal(9, 2)",
    mode: str = "evolve",
    checks: str = "",
    good: int = 0,
) -> DeclaredColumns:
    """The columns of `bronze.t`, whose rows with a greater price are set aside."""
    file = folder / "bronze" / "t.yml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(CONTRACT.format(most=most, price=price, mode=mode, checks=checks, good=good))
    return read_columns(file)


def adding(
    declared: DeclaredColumns,
    *rows: Row,
    key: MergeKey | None = None,
    strategy: Literal["upsert", "insert_only"] = "upsert",
) -> BronzeSource:
    """A source that appends these rows, or merges them by a key."""
    disposition = "append" if key is None else "merge"
    return dataclasses.replace(
        python_source(rows, declared, write_disposition=disposition, key=key), strategy=strategy
    )


def row(number: int, price: Any, version: int = 1, **more: Any) -> dict[str, Any]:
    """One row as the source yields it."""
    return {"id": number, "version": version, "price": price, **more}


def replayed(lake: Lake, source: BronzeSource) -> LoadReport:
    """What a replay came to."""
    return replay(source, lake.settings)


def sold(lake: Lake) -> list[tuple[Any, ...]]:
    """The table: id, version and price of each row."""
    return lake.read("bronze.t", "id, version, cast(price as double)")


def aside(lake: Lake, columns: str = "rule, json_extract_string(raw, '/id')") -> list[tuple[Any, ...]]:
    """What is in quarantine."""
    return lake.read("quarantine.t", columns)
