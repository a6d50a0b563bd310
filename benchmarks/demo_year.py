"""The demo's year from its files to daily and monthly Gold, with all its checks and with none."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Measured, measure
from benchmarks.results import Result
from lakehouse.settings import PROJECT_DIR

if TYPE_CHECKING:
    from lakehouse.settings import Settings

TITLE = "The demo's year"
JUDGING = ("checks", "distribution", "data_tests")  # keys of contracts and of dbt's properties
TURNS = 2
TIMES = 3  # dbt's start-up, of which the median counts


def project(folder: Path, *, checked: bool) -> str:
    """A project of its own with nothing built; unless `checked`, no contract checks and dbt tests nothing."""
    for part in ("checks", "dbt_project"):
        shutil.copytree(PROJECT_DIR / part, folder / part, ignore=shutil.ignore_patterns("target", "logs"))
    shutil.copy(PROJECT_DIR / "dagster.yaml", folder)
    if not checked:
        for layer in ("silver", "gold", "properties.yml"):
            _remove(folder / "dbt_project" / "tests" / layer)
        for file in folder.rglob("*.yml"):
            _let_all_pass(file)
    return str(folder)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _let_all_pass(file: Path) -> None:
    import yaml

    def without(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: without(value) for key, value in part.items() if key not in JUDGING}
        return [without(value) for value in part] if isinstance(part, list) else part

    file.write_text(yaml.safe_dump(without(yaml.safe_load(file.read_text())), sort_keys=False))


def build(project_dir: str) -> dict[str, Any]:
    """Seed the sources, then build every layer through Dagster as `make demo` does.

    `seconds` are those of the runs, without what dbt takes to start and parse for each of them.
    """
    os.environ |= {"LAKEHOUSE_PROJECT_DIR": project_dir, "DAGSTER_HOME": project_dir}
    os.chdir(project_dir)  # dagster.yaml keeps its records under the folder it is started in
    import dagster as dg

    from demo import run
    from demo.seed import seed
    from lakehouse.settings import Settings

    settings = Settings()
    seed(settings)
    from lakehouse.definitions import defs

    with dg.DagsterInstance.get() as instance:
        steps = list(run.missing(defs, instance, set()))
        started = time.perf_counter()
        for step in steps:
            if not run.build(defs, instance, step, settings.data_dir / run.LOG):
                raise RuntimeError(f"{step.assets} were not built; see {settings.data_dir / run.LOG}.")
        whole = time.perf_counter() - started
        events = dg.EventRecordsFilter(dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        checks = len(instance.get_event_records(events))
    start_up = len(steps) * _dbt_start_up(settings)
    return {"seconds": whole - start_up, "start_up": start_up, "runs": len(steps), "checks": checks}


def _dbt_start_up(settings: "Settings") -> float:
    """Seconds of an invocation that selects nothing."""
    from lakehouse.orchestration.dbt_project import dbt_cli, dbt_project
    from lakehouse.orchestration.dbt_run import BUILD

    dbt, seconds = dbt_cli(dbt_project(settings)), []
    for _ in range(TIMES):
        started = time.perf_counter()
        dbt.cli([*BUILD, "--select", "no_such_model"]).wait()
        seconds.append(time.perf_counter() - started)
    return sorted(seconds)[TIMES // 2]


def run(folder: Path) -> Iterator[Result]:
    """The year with its checks and without, by turns, each in a process of its own; the better counts."""
    measured: dict[bool, list[Measured]] = {True: [], False: []}
    for turn in range(TURNS):
        for checked, runs in measured.items():
            made = project(folder / f"{turn}-{checked}", checked=checked)
            runs.append(measure(build, project_dir=made))
            shutil.rmtree(made)
    best, bare = (min(runs, key=lambda one: one.seconds) for runs in measured.values())
    told, peak = best.values, max(each.peak_mb for each in measured[True])
    yield Result(
        "365 days and 12 months of every layer, start-up of the tools apart",
        best.seconds,
        90,
        "s",
        f"the better of {TURNS}; {told['runs']} runs; dbt's start-up in them {told['start_up']:.0f} s, "
        f"the whole process {best.process_seconds:.0f} s with its imports and the writing of the sources",
    )
    yield Result("peak memory of the whole process tree", peak, 1500, "MB", "the same runs")
    yield Result(
        "the year beside the same without its checks",
        best.seconds / bare.seconds,
        4 / 3,
        "times",
        f"{told['checks']:,} check results in {best.seconds:.0f} s; "
        f"{bare.values['checks']:,} in {bare.seconds:.0f} s, with contracts of columns alone and no dbt test",
    )
