"""The project's own definitions, as Dagster loads them, for commands that Dagster does not start."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    import dagster as dg


class ProjectError(StorageError):
    """The project cannot be loaded. The message is for the user."""


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
            f"{file} names no single python_module, so that what the project is made of cannot be told from "
            "here: use the UI instead."
        ) from error
    name = module if isinstance(module, str) else module["module_name"]
    defs: dg.Definitions = importlib.import_module(name).defs
    return defs
