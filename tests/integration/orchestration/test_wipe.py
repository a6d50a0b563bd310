"""A partition that is wiped is gone from its table and from Dagster's records, and nothing else is."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from lakehouse import wipe as wiping
from lakehouse.cli import main
from lakehouse.orchestration import project
from lakehouse.storage.errors import StorageError

Query = Callable[[str], list[tuple[Any, ...]]]
Materialize = Callable[..., dg.ExecuteInProcessResult]

DAYS = ["2013-01-01", "2013-01-02", "2013-01-03"]
BRONZE = dg.AssetKey(["bronze", "flights"])
COUNTS = "select flight_date::varchar, count(*) from bronze.flights group by 1 order by 1"


@pytest.fixture
def instance(kept_instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    """For all fixtures of these tests, and for the command."""
    monkeypatch.setattr(project, "project_instance", lambda _: nullcontext(kept_instance))
    return kept_instance


@pytest.fixture
def loaded(
    seed_days: Callable[[Sequence[str]], None], materialize: Materialize, query: Query
) -> list[tuple[Any, ...]]:
    """Three days of flights are loaded; how many each has."""
    seed_days(DAYS)
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[2]).success
    return query(COUNTS)


def wipe(*options: str) -> Result:
    return CliRunner().invoke(main, ["wipe", "bronze.flights", *options])


def test_it_says_first_and_takes_out_with_yes_what_was_named_and_no_more(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, query: Query, materialize: Materialize
) -> None:
    said = wipe("--partition", DAYS[1])
    assert said.exit_code == 0, said.output
    assert said.output.splitlines()[1].split() == [DAYS[1], str(loaded[1][1]), "materialized"]
    assert said.output.endswith("Nothing was changed. Do it with --yes.\n")
    assert query(COUNTS) == loaded
    assert instance.get_materialized_partitions(BRONZE) == {*DAYS}

    done = wipe("--partition", DAYS[1], "--yes")
    assert done.exit_code == 0, done.output
    assert query(COUNTS) == [loaded[0], loaded[2]]
    assert instance.get_materialized_partitions(BRONZE) == {DAYS[0], DAYS[2]}

    assert "nothing to do" in wipe("--partition", DAYS[1], "--yes").output
    assert materialize("bronze.flights", start=DAYS[1]).success
    assert query(COUNTS) == loaded


def test_the_rollback_that_it_names_undoes_it(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, query: Query
) -> None:
    done = wipe("--all", "--yes")
    assert query(COUNTS) == []
    assert instance.get_materialized_partitions(BRONZE) == set()

    undo = done.output.splitlines()[-1].split("`")[1].split()[1:]
    assert CliRunner().invoke(main, [*undo, "--yes"]).exit_code == 0
    assert query(COUNTS) == loaded
    assert instance.get_materialized_partitions(BRONZE) == {*DAYS}


def test_after_the_wipe_of_the_ui_the_rows_are_taken_out_too(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, query: Query
) -> None:
    instance.wipe_asset_partitions(BRONZE, [DAYS[0]])
    done = wipe("--partition", DAYS[0], "--yes")
    assert done.output.splitlines()[1].split() == [DAYS[0], str(loaded[0][1]), "missing"]
    assert query(COUNTS) == loaded[1:]


def test_one_that_ended_before_dagster_knew_is_finished_by_doing_it_again(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise SystemExit(137)

    with monkeypatch.context() as patched:
        patched.setattr(type(instance), "wipe_asset_partitions", ended)
        assert wipe("--partition", DAYS[0], "--yes").exit_code == 137
    assert query(COUNTS) == loaded[1:]
    assert instance.get_materialized_partitions(BRONZE) == {*DAYS}

    assert wipe("--partition", DAYS[0], "--yes").exit_code == 0
    assert instance.get_materialized_partitions(BRONZE) == {*DAYS[1:]}


def test_rows_that_cannot_be_taken_out_stay_recorded(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(wiping.write, "overwrite_partitions", full)
    failed = wipe("--partition", DAYS[0], "--yes")
    assert failed.exit_code == 1
    assert failed.output.endswith("Error: The disk is full.\n")
    assert query(COUNTS) == loaded
    assert instance.get_materialized_partitions(BRONZE) == {*DAYS}


def test_a_storage_that_cannot_forget_partitions_shows_that_they_have_no_rows(
    loaded: list[tuple[Any, ...]], instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(type(instance.event_log_storage), "wipe_asset_partitions", cannot)
    assert wipe("--partition", DAYS[1], "--yes").exit_code == 0
    [record] = instance.fetch_materializations(BRONZE, limit=1).records
    event = record.asset_materialization
    assert event is not None
    assert (event.partition, event.metadata["dagster/partition_row_count"].value) == (DAYS[1], 0)


def test_a_table_without_partitions_is_refused_in_a_sentence(
    seed_days: Callable[[Sequence[str]], None], instance: dg.DagsterInstance, materialize: Materialize
) -> None:
    seed_days([])
    assert materialize("bronze.airlines").success
    refused = CliRunner().invoke(main, ["wipe", "bronze.airlines", "--all", "--yes"])
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: bronze.airlines has no partitions")
