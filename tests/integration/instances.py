"""Dagster instances of one test, which like the project's own send and note no telemetry."""

from contextlib import AbstractContextManager
from pathlib import Path

import dagster as dg

QUIET = {"telemetry": {"enabled": False}}


def in_memory() -> AbstractContextManager[dg.DagsterInstance]:
    return dg.DagsterInstance.ephemeral(settings=QUIET)


def in_folder(folder: Path) -> AbstractContextManager[dg.DagsterInstance]:
    return dg.DagsterInstance.local_temp(str(folder), overrides=QUIET)
