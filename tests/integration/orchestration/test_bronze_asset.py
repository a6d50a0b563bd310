"""Bronze through Dagster: what is loaded, and what is said of each partition."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from lakehouse.settings import Settings

FLIGHTS = dg.AssetKey(["bronze", "flights"])
DAYS = ["2013-01-01", "2013-01-02", "2013-01-03", "2013-01-04"]

# What is due by the clock, none of which the tests load.
OF_THE_TABLE = ("completeness_missing_partitions", "freshness_due_partition")


def rows_of(text: str) -> int:
    return len(text.splitlines()) - 1


def evaluations(result: dg.ExecuteInProcessResult) -> dict[str | None, bool]:
    return {
        check.partition: check.passed
        for check in result.get_asset_check_evaluations()
        if check.check_name not in OF_THE_TABLE
    }


def test_a_range_reports_each_partition_once(
    seed_days: Callable[[Sequence[str]], None],
    materialize: Callable[..., dg.ExecuteInProcessResult],
    query: Callable[[str], list[tuple[Any, ...]]],
    year_of_files: dict[str, str],
) -> None:
    seed_days(DAYS)
    result = materialize("bronze.flights", start=DAYS[0], end=DAYS[-1])
    assert result.success
    events = result.asset_materializations_for_node("bronze__flights")
    counted = {event.partition: event.metadata["dagster/partition_row_count"].value for event in events}
    assert Counter(event.partition for event in events) == Counter(DAYS)
    assert counted == {day: rows_of(year_of_files[day]) for day in DAYS}
    assert evaluations(result) == dict.fromkeys(DAYS, True)
    stored = query("select flight_date::varchar, count(*) from bronze.flights group by 1")
    assert dict(stored) == counted


def test_a_bad_day_of_a_range_fails_alone(
    settings: Settings,
    instance: dg.DagsterInstance,
    seed_days: Callable[[Sequence[str]], None],
    materialize: Callable[..., dg.ExecuteInProcessResult],
    query: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    seed_days(DAYS)
    bad = settings.source_dir / "flights" / f"{DAYS[1]}.csv"
    good = bad.read_text()
    bad.write_text(good.replace(",848,", ",n/a,", 1))

    result = materialize("bronze.flights", "silver.flights", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    assert instance.get_materialized_partitions(FLIGHTS) == {DAYS[0], DAYS[2], DAYS[3]}
    assert evaluations(result) == {DAYS[0]: True, DAYS[1]: False, DAYS[2]: True, DAYS[3]: True}
    message = result.failure_data_for_node("bronze__flights").user_failure_data.description
    for part in ("bronze.flights", DAYS[1], f"flights/{DAYS[1]}.csv", "line", "column", "n/a"):
        assert part in message
    assert {row[0] for row in query("select distinct flight_date::varchar from bronze.flights")} == {
        DAYS[0],
        DAYS[2],
        DAYS[3],
    }
    assert not instance.get_materialized_partitions(dg.AssetKey(["silver", "flights"]))

    bad.write_text(good)
    again = materialize("bronze.flights", start=DAYS[1])
    assert again.success
    assert instance.get_materialized_partitions(FLIGHTS) == set(DAYS)


def test_a_row_in_quarantine_is_counted(
    settings: Settings,
    seed_days: Callable[[Sequence[str]], None],
    materialize: Callable[..., dg.ExecuteInProcessResult],
    query: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    seed_days(DAYS[:1])
    file = settings.source_dir / "flights" / f"{DAYS[0]}.csv"
    text = file.read_text()
    file.write_text(text.replace("\n2013,", "\nNA,", 1))  # a row that says no day

    result = materialize("bronze.flights", start=DAYS[0])

    assert result.success
    [event] = result.asset_materializations_for_node("bronze__flights")
    assert event.metadata["rows_quarantined"].value == 1
    assert event.metadata["dagster/partition_row_count"].value == rows_of(text) - 1
    assert evaluations(result) == {DAYS[0]: True}
    assert query("select rule, column_name, source_file from quarantine.flights") == [
        ("no_key", "flight_date", f"flights/{DAYS[0]}.csv")
    ]


def test_a_table_without_partitions_reports_itself(
    seed_days: Callable[[Sequence[str]], None],
    materialize: Callable[..., dg.ExecuteInProcessResult],
    query: Callable[[str], list[tuple[Any, ...]]],
) -> None:
    seed_days([])
    result = materialize("bronze.airports")
    assert result.success
    [event] = result.asset_materializations_for_node("bronze__airports")
    [(rows,)] = query("select count(*) from bronze.airports")
    assert event.metadata["dagster/row_count"].value == rows > 0
    assert evaluations(result) == {None: True}


def test_a_missing_source_is_a_sentence(
    settings: Settings, materialize: Callable[..., dg.ExecuteInProcessResult]
) -> None:
    settings.source_dir.mkdir(parents=True)
    result = materialize("bronze.airports")
    assert not result.success
    message = result.failure_data_for_node("bronze__airports").user_failure_data.description
    assert "operational.db does not exist" in message
    assert "make demo" in message
