"""The project as Dagster knows it, for commands that are no process of Dagster's."""

import contextlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    import dagster as dg

    from lakehouse.settings import Settings


class ProjectError(StorageError):
    """The project cannot be used from a command. The message is for the user."""


@contextlib.contextmanager
def project_instance(settings: "Settings") -> "Iterator[dg.DagsterInstance]":
    """Dagster's records of this project, for as long as the block lasts; it runs in the project's folder."""
    import dagster as dg

    os.environ.setdefault("DAGSTER_HOME", str(settings.project_dir))
    # dagster.yaml names folders from there.
    with contextlib.chdir(settings.project_dir), dg.DagsterInstance.get() as instance:
        yield instance


def load_definitions(project_dir: Path) -> "dg.Definitions":
    """What Dagster itself loads: the module that workspace.yaml names.

    Raises:
        ProjectError: it names no single one.
    """
    import yaml

    file = project_dir / "workspace.yaml"
    try:
        [loaded] = yaml.safe_load(file.read_text(encoding="utf-8"))["load_from"]
        module = loaded["python_module"]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ProjectError(
            f"{file} names no single python_module, so that the project cannot be used from here: do it in "
            "the UI."
        ) from error
    name = module if isinstance(module, str) else module["module_name"]
    defs: dg.Definitions = importlib.import_module(name).defs
    return defs
