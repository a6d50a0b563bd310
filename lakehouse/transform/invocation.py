"""What an orchestrator tells a dbt process: the run and the window, as a file in its target folder.

By hand, the environment says it instead (`LAKEHOUSE_PARTITION_START`, `LAKEHOUSE_PARTITION_END`).
"""

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from lakehouse.transform.model_result import target_folder
from lakehouse.transform.window import Window, read_window

FILE = "lakehouse-invocation.json"


@dataclass(frozen=True)
class Invocation:
    """One dbt process.

    Args:
        run_id: on whose behalf it runs.
        window: the partitions it builds; None for whole tables.
        leave_out: partitions of the window that it does not build.
    """

    run_id: str
    window: Window | None
    leave_out: frozenset[date] = frozenset()

    def write(self, target: Path) -> None:
        """Leave it where the process that gets this target folder finds it."""
        target.mkdir(parents=True, exist_ok=True)
        window = [self.window.start.isoformat(), self.window.end.isoformat()] if self.window else None
        told = {"run_id": self.run_id, "window": window, "leave_out": sorted(map(str, self.leave_out))}
        (target / FILE).write_text(json.dumps(told), encoding="utf-8")


def read_invocation() -> Invocation:
    """The running process's invocation.

    Raises:
        ValueError: the window in the environment is not one.
    """
    file = target_folder() / FILE
    if not file.exists():
        return Invocation("by-hand", read_window())
    told = json.loads(file.read_text(encoding="utf-8"))
    window = Window(*map(date.fromisoformat, told["window"])) if told["window"] else None
    return Invocation(told["run_id"], window, frozenset(map(date.fromisoformat, told["leave_out"])))
