"""Dagster instances of one test, which like the project's own send and note no telemetry."""

from contextlib import AbstractContextManager
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef

QUIET = {"telemetry": {"enabled": False}}


def in_memory() -> AbstractContextManager[dg.DagsterInstance]:
    return dg.DagsterInstance.ephemeral(settings=QUIET)


def in_folder(folder: Path) -> AbstractContextManager[dg.DagsterInstance]:
    return dg.DagsterInstance.local_temp(str(folder), overrides=QUIET)


def project_like(folder: Path) -> dg.DagsterInstance:
    """One that keeps what ran as the project's own does."""
    ours = {"module": "lakehouse.orchestration.event_log", "class": "OpenSqliteStorage"}
    storage = {"custom": {**ours, "config": {"base_dir": str(folder)}}}
    return dg.DagsterInstance.from_ref(
        InstanceRef.from_dir(str(folder), overrides={"storage": storage, **QUIET})
    )
