"""Runs whose process is gone: Dagster would hold them for started, and their place in the queue, for ever."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagster import DagsterInstance, DagsterRun


def fail_dead_runs(instance: "DagsterInstance") -> list[str]:
    """Fail the runs that a process of this machine worked on and that no process does now; their ids."""
    import dagster as dg

    working = [
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
        dg.DagsterRunStatus.CANCELING,
    ]
    dead = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=working)):
        processes = set(_processes(instance, record.dagster_run))
        began = record.start_time or record.create_timestamp.timestamp()
        if processes and not any(_works(process, began) for process in processes):
            instance.report_run_failed(
                record.dagster_run,
                "The process that ran this was killed. What it had committed is whole, the rest is as it "
                "was. Run it again for what is missing.",
            )
            dead.append(record.dagster_run.run_id)
    return dead


def _processes(instance: "DagsterInstance", run: "DagsterRun") -> Iterator[int]:
    """The ids of the processes that said they work on a run."""
    import dagster as dg

    for record in instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT).records:
        event = record.event_log_entry.dagster_event
        pid = event.engine_event_data.metadata.get("pid") if event else None
        if pid is not None:
            yield int(str(pid.value))


def _works(pid: int, began: float) -> bool:
    """Whether a process that was there when the run began is there still; ids are used again."""
    import psutil

    try:
        process = psutil.Process(pid)
        return bool(process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= began + 1)
    except psutil.NoSuchProcess:
        return False
