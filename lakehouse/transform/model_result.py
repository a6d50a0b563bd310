"""What building a model did, as one JSON file a model in the invocation's target folder.

Dagster reads it while dbt runs. (What a dbt macro logs as JSON is taken for column metadata.)
"""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakehouse.storage.write import WriteResult

FOLDER = "lakehouse"


@dataclass(frozen=True)
class ModelResult:
    """The result of one model.

    Args:
        table: `layer.table`.
        rows: rows written.
        snapshot_id: as text, for it is longer than a JSON number may be.
        partitions: rows by partition (ISO date); empty for a table written as a whole.
        failures: partitions that were not published, each with the reason.
        columns: names and types.
        lineage: for each column, the `[table, column]` pairs it is made from.
    """

    table: str
    rows: int = 0
    snapshot_id: str | None = None
    partitions: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    lineage: dict[str, list[list[str]]] = field(default_factory=dict)

    def plus(self, written: "WriteResult") -> "ModelResult":
        """The result after one more commit."""
        return replace(
            self,
            rows=self.rows + written.rows,
            snapshot_id=str(written.snapshot_id) if written.snapshot_id else None,
            partitions=self.partitions | {str(key): rows for key, rows in written.partitions.items()},
            failures=self.failures | {str(key): reason for key, reason in written.failures.items()},
        )


def target_folder() -> Path:
    """The target folder of the running dbt process; dagster-dbt gives each invocation its own."""
    return Path(os.environ.get("DBT_TARGET_PATH", "target"))


def write_result(unique_id: str, result: ModelResult) -> None:
    """Write a model's result whole or not at all."""
    file = _file(target_folder(), unique_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(result)), encoding="utf-8")
    partial.rename(file)


def read_result(target: Path, unique_id: str) -> ModelResult | None:
    """The result of a model, None if it got nowhere."""
    file = _file(target, unique_id)
    return ModelResult(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def _file(target: Path, unique_id: str) -> Path:
    return target / FOLDER / f"{unique_id}.json"
