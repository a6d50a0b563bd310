"""A day that went wrong is undone with all that was built from it, as the UI's job and the command do it."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from demo.arrivals import files_of_day
from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.definitions import defs
from lakehouse.orchestration import project
from lakehouse.settings import Settings

Query = Callable[[str], list[tuple[Any, ...]]]
Materialize = Callable[..., dg.ExecuteInProcessResult]

DAYS = ["2013-01-01", "2013-01-02"]
GOLD = "gold.daily_airport_performance"
BUILT = ("bronze.flights", "silver.flights", GOLD)
COUNTS = [f"select flight_date::varchar, count(*) from {table} group by 1 order by 1" for table in BUILT]


@pytest.fixture
def instance(kept_instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """For all fixtures of these tests."""
    return kept_instance


@pytest.fixture
def good(
    seed_days: Callable[[Sequence[str]], None], materialize: Materialize, query: Query
) -> list[list[tuple[Any, ...]]]:
    """The first day is built; what the tables hold of it."""
    seed_days(DAYS)
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize(*BUILT, start=DAYS[0]).success
    return [query(count) for count in COUNTS]


@pytest.fixture
def target(settings: Settings, good: object, materialize: Materialize, query: Query) -> int:
    """The snapshot before the first day came again without some flights, and the second one came."""
    before = open_catalog(settings).load_table("bronze.flights").metadata.current_snapshot_id
    file, _ = files_of_day(settings.source_dir, date.fromisoformat(DAYS[0]))
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-50]), encoding="utf-8")
    assert materialize(*BUILT, start=DAYS[0], end=DAYS[1]).success
    assert before is not None
    return before


def roll_back(instance: dg.DagsterInstance, **config: Any) -> dg.ExecuteInProcessResult:
    return defs.resolve_job_def("rollback").execute_in_process(
        run_config={"ops": {"roll_back": {"config": {"table": "bronze.flights", **config}}}},
        instance=instance,
        raise_on_error=False,
    )


def built(instance: dg.DagsterInstance, table: str) -> set[str]:
    return instance.get_materialized_partitions(dg.AssetKey(table.split(".")))


def test_the_job_sets_back_all_that_was_built_from_the_table(
    good: list[list[tuple[Any, ...]]], target: int, instance: dg.DagsterInstance, query: Query
) -> None:
    spoiled = [query(count) for count in COUNTS]
    assert all(len(counts) == len(DAYS) for counts in spoiled)

    dry = roll_back(instance, to=str(target), downstream=True)
    assert dry.success
    assert [query(count) for count in COUNTS] == spoiled

    assert roll_back(instance, to=str(target), downstream=True, dry_run=False).success
    assert [query(count) for count in COUNTS] == good
    profiled = (
        "select distinct partition::varchar, rows from ops.profiles where table_name = 'silver.flights'"
    )
    assert query(profiled) == good[1]
    for table in BUILT:
        assert built(instance, table) == {DAYS[0]}
        records = instance.fetch_materializations(dg.AssetKey(table.split(".")), limit=1).records
        event = records[0].asset_materialization
        assert event is not None
        assert event.partition == DAYS[0]
        assert "rolled_back_from" in event.metadata


def test_without_downstream_only_the_table_is_set_back(
    good: list[list[tuple[Any, ...]]], target: int, instance: dg.DagsterInstance, query: Query
) -> None:
    spoiled = [query(count) for count in COUNTS]
    assert roll_back(instance, to=str(target), dry_run=False).success
    assert [query(count) for count in COUNTS] == [good[0], *spoiled[1:]]


def test_the_job_says_in_a_sentence_what_it_cannot(target: int, instance: dg.DagsterInstance) -> None:
    result = roll_back(instance, to="yesterday", dry_run=False)
    assert not result.success
    [failed] = [event for event in result.all_events if event.is_step_failure]
    failure = failed.step_failure_data.user_failure_data
    assert failure is not None
    assert failure.description == (
        "'yesterday' is no snapshot, branch or tag of bronze.flights, and no time such as 2013-05-01 or "
        "'2013-05-01 23:30:00.250'. Branches and tags: main."
    )


def test_a_storage_that_cannot_forget_partitions_shows_that_they_have_no_rows(
    target: int, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(type(instance.event_log_storage), "wipe_asset_partitions", cannot)
    assert roll_back(instance, to=str(target), dry_run=False).success
    records = instance.fetch_materializations(dg.AssetKey(["bronze", "flights"]), limit=1).records
    event = records[0].asset_materialization
    assert event is not None
    assert event.partition == DAYS[1]
    assert event.metadata["dagster/partition_row_count"].value == 0


def test_the_command_says_first_and_does_it_with_yes(
    good: list[list[tuple[Any, ...]]],
    target: int,
    instance: dg.DagsterInstance,
    query: Query,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from contextlib import nullcontext

    monkeypatch.setattr(project, "project_instance", lambda _: nullcontext(instance))
    spoiled = [query(count) for count in COUNTS]
    command = ["rollback", "bronze.flights", "--to", str(target), "--downstream"]

    said = CliRunner().invoke(main, command)
    assert said.exit_code == 0, said.output
    assert [line.split()[0] for line in said.output.splitlines()[1:4]] == [GOLD, "silver.flights", BUILT[0]]
    assert said.output.endswith("Nothing was changed. Do it with --yes.\n")
    assert [query(count) for count in COUNTS] == spoiled

    done = CliRunner().invoke(main, [*command, "--yes"])
    assert done.exit_code == 0, done.output
    assert [query(count) for count in COUNTS] == good
    assert built(instance, GOLD) == {DAYS[0]}

    again = CliRunner().invoke(main, [*command, "--yes"])
    assert "nothing to do" in again.output
