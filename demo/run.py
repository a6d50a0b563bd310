"""Build what is missing of the demo lakehouse, through Dagster runs that the UI shows later."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demo.progress import Progress, say
from demo.seed import seed
from lakehouse.settings import PROJECT_DIR, Settings

if TYPE_CHECKING:
    import dagster as dg

LOG = "demo.log"


@dataclass(frozen=True)
class Step:
    """One run: assets of one partitioning and the partitions that some of them lack."""

    assets: Sequence["dg.AssetKey"]
    partitions: Sequence[str] | None

    def tags(self) -> dict[str, str]:
        """The tags that make a run one of a range."""
        if self.partitions is None:
            return {}
        return {
            "dagster/asset_partition_range_start": self.partitions[0],
            "dagster/asset_partition_range_end": self.partitions[-1],
        }


def run() -> int:
    """Seed, build and summarize; returns the exit status."""
    started = time.monotonic()
    os.environ.setdefault("DAGSTER_HOME", str(PROJECT_DIR))
    settings = Settings()
    say("Writing the sources: daily flight and weather files, and the operational database …")
    try:
        seeded = seed(settings)
    except ValueError as error:
        say(f"\n{error}")
        return 1
    say("Loading Dagster and the dbt project …")
    import dagster as dg

    from demo.summary import summarize
    from lakehouse.definitions import defs
    from lakehouse.orchestration.dead_runs import fail_dead_runs

    with dg.DagsterInstance.get() as instance:
        fail_dead_runs(instance)
        steps = list(missing(defs, instance, existing_tables(settings)))
        for step in steps:
            if not build(defs, instance, step, settings.data_dir / LOG):
                return 1
        if not steps and not seeded:
            say("\nEverything is built already: nothing was changed.")
        summarize(settings, defs, instance, None if not steps else time.monotonic() - started)
    return 0


def existing_tables(settings: Settings) -> set[str]:
    """The tables of the catalog: Dagster's history may tell of another data folder's."""
    from lakehouse.catalog import open_catalog
    from lakehouse.storage.scan import list_tables

    return set(list_tables(open_catalog(settings)))


def missing(defs: "dg.Definitions", instance: "dg.DagsterInstance", tables: set[str]) -> Iterator[Step]:
    """The runs that build what was never built, whole tables first, then days, then months."""
    import dagster as dg

    def is_there(key: dg.AssetKey) -> bool:
        return ".".join(key.path) in tables

    by_partitions: dict[Any, list[dg.AssetKey]] = {}
    tables_of = (spec for spec in defs.resolve_all_asset_specs() if len(spec.key.path) > 1)  # no report
    for spec in tables_of:
        by_partitions.setdefault(spec.partitions_def, []).append(spec.key)
    for partitions_def in sorted(by_partitions, key=_coarseness):
        keys = by_partitions[partitions_def]
        if partitions_def is None:
            if not all(is_there(key) and instance.get_latest_materialization_event(key) for key in keys):
                yield Step(keys, None)
            continue
        built = [instance.get_materialized_partitions(key) if is_there(key) else set() for key in keys]
        lacking = [
            part for part in partitions_def.get_partition_keys() if not all(part in done for done in built)
        ]
        if lacking:
            yield Step(keys, lacking)


def build(defs: "dg.Definitions", instance: "dg.DagsterInstance", step: Step, log: Path) -> bool:
    """Run one step; what the tools print goes to the log."""
    import dagster as dg

    job = defs.resolve_implicit_global_asset_job_def()
    run_id = dg.DagsterRun(job_name=job.name).run_id
    progress = Progress(step.assets, len(step.partitions or [None]))
    instance.add_event_listener(run_id, progress.on_event)
    with log.open("a", encoding="utf-8") as output, redirect_stdout(output):
        result = job.execute_in_process(
            instance=instance,
            run_id=run_id,
            asset_selection=list(step.assets),
            tags=step.tags(),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
    progress.end()
    if result.success:
        return True
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            failure = event.step_failure_data
            reason = (
                failure.user_failure_data.description if failure.user_failure_data else failure.error.message
            )
            say(f"\n{event.step_key} failed: {reason}")
    say(f"\nThe log is {log}; `make dev` shows the run {run_id[:8]}. `make demo` goes on where it ended.")
    return False


def _coarseness(partitions_def: "dg.TimeWindowPartitionsDefinition | None") -> float:
    """Whole tables before days before months: each is built from what comes before it."""
    if partitions_def is None:
        return 0
    window = partitions_def.time_window_for_partition_key(partitions_def.get_partition_keys()[0])
    return (window.end - window.start).total_seconds()
