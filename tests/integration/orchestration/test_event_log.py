"""Dagster's history in our storage: what Dagster's own would keep, and as soon."""

import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pytest
from dagster._core.instance.ref import InstanceRef
from instances import QUIET

from lakehouse.orchestration.batch import in_one_batch
from lakehouse.orchestration.event_log import OPEN_FILES

OURS = {"module": "lakehouse.orchestration.event_log", "class": "OpenSqliteStorage"}


@dg.asset(partitions_def=dg.StaticPartitionsDefinition(["a", "b"]))
def table() -> None:
    """An asset with partitions."""


JUDGED = dg.AssetSpec("judged", partitions_def=dg.StaticPartitionsDefinition(["a", "b"]))
CHECKS = {"rows": ("a",), "values": ("a",), "odd": ("a",), "others": ("a", "b")}


@dg.multi_asset(
    specs=[JUDGED],
    partitions_def=JUDGED.partitions_def,
    check_specs=[dg.AssetCheckSpec(name, asset=JUDGED.key) for name in CHECKS],
    can_subset=True,
)
def judged(context: dg.AssetExecutionContext) -> Iterator[Any]:
    """An asset of whose checks one warns and one passes for a partition too that is not the run's."""
    for some in ({"rows", "odd", "values"}, {"others"}):
        yield from in_one_batch(
            context,
            [
                dg.AssetCheckEvaluation(
                    asset_key=JUDGED.key,
                    check_name=name,
                    passed=name != "odd",
                    severity=dg.AssetCheckSeverity.WARN,
                    partition=partition,
                )
                for name in CHECKS
                for partition in CHECKS[name]
                if name in some
            ],
        )


def check_results(noted_in: dg.DagsterInstance) -> list[tuple[object, ...]]:
    """What a run leaves of its checks: in the index, of each partition; and how often in its own log."""
    run = dg.materialize([judged], partition_key="a", instance=noted_in)
    log = noted_in.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    storage = noted_in.event_log_storage
    told = [
        (name, record.partition, record.status, record.event and record.event.dagster_event_type)
        for name in CHECKS
        for record in storage.get_asset_check_execution_history(dg.AssetCheckKey(JUDGED.key, name), limit=10)
    ]
    return [*told, (len(log),)]


GRAPH = dg.Definitions(assets=[table]).resolve_asset_graph()


def open_history_files(folder: Path) -> set[Path]:
    files = {Path(file.path) for file in psutil.Process().open_files()}
    return {file for file in files if file.parent == folder and file.suffix == ".db"}


def instance(folder: Path, storage: dict[str, object]) -> dg.DagsterInstance:
    return dg.DagsterInstance.from_ref(
        InstanceRef.from_dir(str(folder), overrides={"storage": storage, **QUIET})
    )


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with instance(tmp_path, {"custom": {**OURS, "config": {"base_dir": str(tmp_path)}}}) as made:
        yield made


def test_dagsters_own_storage_reads_what_was_noted(ours: dg.DagsterInstance, tmp_path: Path) -> None:
    assert dg.materialize([table], partition_key="a", instance=ours).success
    with instance(tmp_path, {"sqlite": {"base_dir": str(tmp_path)}}) as plain:
        assert plain.get_materialized_partitions(table.key) == {"a"}
        assert dg.materialize([table], partition_key="b", instance=plain).success
    assert ours.get_materialized_partitions(table.key) == {"a", "b"}


def test_who_watches_a_run_is_told_of_each_event(ours: dg.DagsterInstance) -> None:
    run = ours.create_run_for_job(dg.define_asset_job("job", [table]).resolve(asset_graph=GRAPH))
    told: queue.Queue[str] = queue.Queue()
    ours.watch_event_logs(run.run_id, None, lambda entry, _: told.put(entry.message))
    for message in ("one", "two"):
        ours.report_engine_event(message, run)
        while message not in told.get(timeout=60):  # what came before it
            pass


def test_many_runs_do_not_keep_many_files_open(ours: dg.DagsterInstance, tmp_path: Path) -> None:
    for _ in range(OPEN_FILES + 3):
        assert dg.materialize([table], partition_key="a", instance=ours).success
    assert 0 < len(open_history_files(tmp_path / "history" / "runs")) <= OPEN_FILES
    ours.dispose()
    assert not open_history_files(tmp_path / "history" / "runs")


def test_files_that_were_removed_meanwhile_are_made_again(ours: dg.DagsterInstance, tmp_path: Path) -> None:
    assert dg.materialize([table], partition_key="a", instance=ours).success
    for file in (tmp_path / "history" / "runs").iterdir():
        file.unlink()
    assert dg.materialize([table], partition_key="b", instance=ours).success
    assert ours.get_materialized_partitions(table.key) == {"b"}


def test_a_history_that_was_removed_begins_anew(ours: dg.DagsterInstance) -> None:
    assert dg.materialize([table], partition_key="a", instance=ours).success
    ours.wipe()
    assert dg.materialize([table], partition_key="b", instance=ours).success
    assert len(ours.get_runs()) == 1
    assert "b" in ours.get_materialized_partitions(table.key)


def test_a_batch_that_cannot_be_noted_whole_leaves_nothing(
    ours: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = dg.materialize([table], partition_key="a", instance=ours)
    storage = ours.event_log_storage
    events = [record.event_log_entry for record in ours.fetch_materializations(table.key, limit=1).records]
    before = len(ours.all_logs(run.run_id))

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(type(storage), "_store_asset_event", fails)
        with pytest.raises(OSError, match="full"):
            storage.store_event_batch(events * 4)
    assert len(ours.all_logs(run.run_id)) == before
    assert len(ours.fetch_materializations(table.key, limit=10).records) == 1
    storage.store_event_batch(events * 2)
    assert len(ours.fetch_materializations(table.key, limit=10).records) == 3


def test_checks_are_noted_as_dagster_would_note_them(ours: dg.DagsterInstance, tmp_path: Path) -> None:
    alone = tmp_path / "plain"
    alone.mkdir()
    with instance(alone, {"sqlite": {"base_dir": str(alone)}}) as plain:
        noted = check_results(ours)
        assert noted == check_results(plain)
    assert noted[-1] == (5,)
