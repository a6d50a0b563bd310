"""Schedules make up for what was missed: a tick asks for what is due and not there, and no more."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from lakehouse.definitions import defs
from lakehouse.settings import Settings

START, END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
DAILY = ["bronze.flights", "bronze.weather", "silver.flights", "silver.weather"]
GOLD = ["gold.daily_airport_performance", "gold.daily_delay_by_weather"]


def tick(instance: dg.DagsterInstance, name: str) -> tuple[list[tuple[str, str]], str]:
    """The ranges that a tick asks for, and what it says where nothing is due."""
    context = dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=datetime(2013, 2, 10, 8, tzinfo=UTC),
        repository_def=defs.get_repository_def(),
    )
    result = defs.resolve_schedule_def(name).evaluate_tick(context)
    ranges = [(request.tags[START], request.tags[END]) for request in result.run_requests or []]
    return ranges, result.skip_message or ""


def built(instance: dg.DagsterInstance, *days: int) -> None:
    for table in (*DAILY, *GOLD):
        key = dg.AssetKey(table.split("."))
        for day in days:
            instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=f"2013-02-0{day}"))


@pytest.fixture
def instance(kept_instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """For all fixtures of these tests."""
    return kept_instance


@pytest.fixture(autouse=True)
def february(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the tenth of February, and the lakehouse has only the days since the first."""
    monkeypatch.setenv("LAKEHOUSE_TODAY", "2013-02-10")
    monkeypatch.setenv("LAKEHOUSE_CATCH_UP_PARTITIONS", "5")


def test_the_oldest_that_are_due_are_asked_for_first(instance: dg.DagsterInstance) -> None:
    ranges, _ = tick(instance, "daily_facts")
    assert ranges == [("2013-01-01", "2013-01-05")]


def test_what_is_there_is_not_asked_for(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_CATCH_UP_PARTITIONS", "400")
    built(instance, 1, 2, 4, 5, 6, 7, 8)
    ranges, _ = tick(instance, "daily_facts")
    assert ranges == [
        ("2013-01-01", "2013-01-31"),
        ("2013-02-03", "2013-02-03"),
        ("2013-02-09", "2013-02-09"),
    ]


def test_a_table_that_lacks_a_day_is_enough(instance: dg.DagsterInstance) -> None:
    built(instance, 1)
    key = dg.AssetKey(GOLD[0].split("."))
    assert instance.get_materialized_partitions(key) == {"2013-02-01"}
    ranges, _ = tick(instance, "daily_facts")
    assert ranges


def test_months_that_are_not_over_are_not_due(instance: dg.DagsterInstance) -> None:
    ranges, _ = tick(instance, "monthly_facts")
    assert ranges == [("2013-01-01", "2013-01-01")]


def test_all_of_them_are_off_until_someone_turns_them_on() -> None:
    every = defs.get_repository_def()
    assert {each.name for each in every.schedule_defs} == {
        "daily_facts",
        "monthly_facts",
        "nightly_reference",
        "weekly_maintenance",
    }
    assert all(each.default_status == dg.DefaultScheduleStatus.STOPPED for each in every.schedule_defs)
    assert all(each.default_status == dg.DefaultSensorStatus.STOPPED for each in every.sensor_defs)
