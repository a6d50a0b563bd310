"""The dbt project as Dagster sees it: its manifest, made when it is missing or stale."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from lakehouse.settings import Settings

if TYPE_CHECKING:
    from dagster_dbt import DbtCliResource, DbtProject

# What a manifest is made from; the rest of the project folder is dbt's output.
PROJECT_INPUTS = (
    "dbt_project.yml",
    "profiles.yml",
    "models",
    "macros",
    "tests",
    "seeds",
    "snapshots",
    "analyses",
)


def dbt_project(settings: Settings) -> "DbtProject":
    """The project, with a manifest that fits its files.

    Raises:
        DagsterDbtCliRuntimeError: the project does not parse; the message is dbt's.
    """
    from dagster_dbt import DbtProject

    project = DbtProject(project_dir=settings.dbt_dir, profiles_dir=settings.dbt_dir)
    if is_stale(project.manifest_path, settings.dbt_dir):
        project.manifest_path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(project.manifest_path.with_suffix(".lock")):
            if is_stale(project.manifest_path, settings.dbt_dir):
                # Whole: parsing what changed alone, dbt was seen to lose the properties of singular tests,
                # and their checks were gone from the graph.
                parse = dbt_cli(project).cli(
                    ["parse", "--quiet", "--no-partial-parse"], target_path=project.manifest_path.parent
                )
                parse.wait()
    return project


def dbt_cli(project: "DbtProject") -> "DbtCliResource":
    """Dbt from the environment Dagster runs in, whether or not that is activated."""
    from dagster_dbt import DbtCliResource

    beside_python = Path(sys.executable).with_name("dbt")
    return DbtCliResource(
        project_dir=project,
        profiles_dir=str(project.project_dir),
        dbt_executable=str(beside_python) if beside_python.exists() else "dbt",
    )


def is_stale(manifest: Path, project_dir: Path) -> bool:
    """Whether a file of the project is newer than the manifest, or was removed since."""
    if not manifest.exists():
        return True
    made = manifest.stat().st_mtime
    return any(path.stat().st_mtime > made for path in _inputs(project_dir))


def _inputs(project_dir: Path) -> Iterator[Path]:
    """Files and their folders: a folder changes when a file in it is removed."""
    for name in PROJECT_INPUTS:
        path = project_dir / name
        if path.exists():
            yield path
        if path.is_dir():
            yield from path.rglob("*")


def models(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The manifest's models by unique id."""
    return {name: node for name, node in manifest["nodes"].items() if node["resource_type"] == "model"}
