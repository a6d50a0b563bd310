"""A killed run does not keep its place in the queue for ever."""

import multiprocessing
import os
from multiprocessing.connection import Connection
from pathlib import Path

import dagster as dg
from instances import in_folder

from lakehouse.orchestration.dead_runs import fail_dead_runs


def work_for_ever(home: Path, ready: Connection) -> None:
    @dg.op
    def work() -> None:
        ready.send(os.getpid())
        ready.poll(None)

    @dg.job
    def job() -> None:
        work()

    with in_folder(home) as instance:
        job.execute_in_process(instance=instance)


def statuses(instance: dg.DagsterInstance) -> list[dg.DagsterRunStatus]:
    return [run.status for run in instance.get_runs()]


def test_a_run_is_failed_when_its_process_is_gone_and_not_before(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    worker = spawn.Process(target=work_for_ever, args=(tmp_path, theirs))
    worker.start()
    ours.recv()
    with in_folder(tmp_path) as instance:
        assert fail_dead_runs(instance) == []
        assert statuses(instance) == [dg.DagsterRunStatus.STARTED]
        worker.kill()
        worker.join()
        assert len(fail_dead_runs(instance)) == 1
        assert statuses(instance) == [dg.DagsterRunStatus.FAILURE]
