"""The sensor of the demo's flights, ticked as Dagster's daemon ticks it, over real files."""

import os
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import dagster as dg
import pytest

from demo.arrivals import files_of_day
from lakehouse.definitions import defs
from lakehouse.settings import Settings

DAYS = ["2013-01-01", "2013-01-02", "2013-01-04"]
START, END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
FLIGHTS = dg.AssetKey(["bronze", "flights"])
Materialize = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def instance(kept_instance: dg.DagsterInstance) -> dg.DagsterInstance:
    """For all fixtures of these tests."""
    return kept_instance


class Sensor:
    """Ticks, one after the other, each in a process of its own as far as its cursor goes."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.cursor: str | None = None

    def tick(self) -> tuple[list[tuple[str, str]], str]:
        """The ranges that are asked for, and what is said where nothing is."""
        context = dg.build_sensor_context(
            instance=self.instance,
            cursor=self.cursor,
            repository_def=defs.get_repository_def(),
        )
        result = defs.resolve_sensor_def("bronze_flights_files").evaluate_tick(context)
        self.cursor = result.cursor
        ranges = [
            (request.tags[START], request.tags[END])
            if START in request.tags
            else (request.partition_key or "",) * 2
            for request in result.run_requests or []
        ]
        return ranges, result.skip_message or ""


@pytest.fixture
def sensor(
    instance: dg.DagsterInstance,
    seed_days: Callable[[Sequence[str]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> Sensor:
    monkeypatch.setenv("LAKEHOUSE_FILE_SETTLE_SECONDS", "0")
    seed_days(DAYS)
    return Sensor(instance)


def file_of(day: str) -> Path:
    return files_of_day(Settings().source_dir, date.fromisoformat(day))[0]


def first_ticks(sensor: Sensor) -> list[tuple[str, str]]:
    """A file is seen twice before it is taken for whole."""
    assert sensor.tick()[0] == []
    return sensor.tick()[0]


def test_each_version_of_a_file_is_asked_for_once(sensor: Sensor) -> None:
    assert first_ticks(sensor) == [(DAYS[0], DAYS[1]), (DAYS[2], DAYS[2])]
    assert sensor.tick()[0] == []

    os.utime(file_of(DAYS[0]))  # touched, and the same
    assert first_ticks(sensor) == []

    with file_of(DAYS[1]).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert first_ticks(sensor) == [(DAYS[1], DAYS[1])]
    assert sensor.tick()[0] == []


def test_a_file_that_is_still_written_is_left_until_it_is_whole(
    sensor: Sensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEHOUSE_FILE_SETTLE_SECONDS", "3600")
    for _ in range(3):
        ranges, said = sensor.tick()
        assert ranges == []
        assert "may still be written" in said
        with file_of(DAYS[0]).open("a", encoding="utf-8") as file:
            file.write("\n")


def test_what_a_person_has_loaded_is_not_asked_for_and_what_was_wiped_is(
    sensor: Sensor, materialize: Materialize, instance: dg.DagsterInstance
) -> None:
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[1]).success
    assert first_ticks(sensor) == [(DAYS[2], DAYS[2])]
    assert materialize("bronze.flights", start=DAYS[2]).success
    assert sensor.tick()[0] == []

    instance.wipe_asset_partitions(FLIGHTS, [DAYS[1]])
    assert instance.get_materialized_partitions(FLIGHTS) == {DAYS[0], DAYS[2]}
    assert sensor.tick()[0] == [(DAYS[1], DAYS[1])]


def test_a_file_that_is_gone_is_told_once(sensor: Sensor) -> None:
    first_ticks(sensor)
    file_of(DAYS[2]).unlink()
    ranges, said = sensor.tick()
    assert ranges == []
    assert said == f"flights/{DAYS[2]}.csv are gone, their rows stay"
    assert "gone" not in sensor.tick()[1]


def test_a_cursor_that_cannot_be_read_loads_nothing_twice(sensor: Sensor, materialize: Materialize) -> None:
    assert first_ticks(sensor)
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[2]).success is False  # one day has no file
    sensor.cursor = "not a cursor"
    assert first_ticks(sensor) == []


def test_only_sources_that_declare_their_files_have_one() -> None:
    from lakehouse.orchestration.file_sensor import file_sensors

    loaded = list(defs.assets or [])
    assert [each.name for each in file_sensors(loaded)] == ["bronze_flights_files", "bronze_weather_files"]
