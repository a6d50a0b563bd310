"""What building a model did, as one JSON file a model in the invocation's target folder.

Dagster reads it while dbt runs. (What a dbt macro logs as JSON is taken for column metadata.)
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse.quality.check_result import CheckResult, Results

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
        quarantined: rows set aside, by partition; under "" those of a whole table.
        checks: what the contract's checks came to, likewise.
        columns: names and types.
        lineage: for each column, the `[table, column]` pairs it is made from.
    """

    table: str
    rows: int = 0
    snapshot_id: str | None = None
    partitions: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    quarantined: dict[str, int] = field(default_factory=dict)
    checks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
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

    def judged(self, checks: Results, quarantined: Mapping[date | None, int]) -> "ModelResult":
        """The result with what one more audit came to, whether or not a commit followed."""
        return replace(
            self,
            checks=self.checks
            | {str(key or ""): [vars(check) for check in results] for key, results in checks.items()},
            quarantined=self.quarantined
            | {str(key or ""): rows for key, rows in quarantined.items() if rows},
        )

    def checks_by_partition(self) -> Results:
        """What the checks came to, as the audit had it."""
        return {
            date.fromisoformat(key) if key else None: [CheckResult(**check) for check in checks]
            for key, checks in self.checks.items()
        }


def target_folder() -> Path:
    """The target folder of the running dbt process; dagster-dbt gives each invocation its own."""
    return Path(os.environ.get("DBT_TARGET_PATH", "target"))


def write_result(unique_id: str, result: ModelResult) -> None:
    """Write a model's result whole or not at all."""
    file = _file(target_folder(), unique_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(vars(result)), encoding="utf-8")
    partial.rename(file)


def read_result(target: Path, unique_id: str) -> ModelResult | None:
    """The result of a model, None if it got nowhere."""
    file = _file(target, unique_id)
    return ModelResult(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def _file(target: Path, unique_id: str) -> Path:
    return target / FOLDER / f"{unique_id}.json"
