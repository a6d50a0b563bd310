"""Contracts through Dagster: what fails is not published, is seen, and stops what depends on it."""

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from lakehouse.catalog import open_catalog
from lakehouse.settings import Settings
from lakehouse.storage.tables import load_table

Query = Callable[[str], list[tuple[Any, ...]]]
Materialize = Callable[..., dg.ExecuteInProcessResult]

DAYS = ["2013-05-01", "2013-05-02", "2013-05-03"]
BAD = DAYS[1]
BRONZE = dg.AssetKey(["bronze", "flights"])
SILVER, GOLD = dg.AssetKey(["silver", "flights"]), dg.AssetKey(["gold", "daily_airport_performance"])


@pytest.fixture
def bad_day(settings: Settings, seed_days: Callable[[Sequence[str]], None], materialize: Materialize) -> Path:
    """Three days in Bronze; on the second a flight leaves four days late, which Silver refuses."""
    seed_days(DAYS)
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    file = settings.source_dir / "flights" / f"{BAD}.csv"
    header, first, rest = file.read_text().split("\n", 2)
    values = first.split(",")
    values[header.split(",").index("dep_delay")] = "5760"
    good = file.read_text()
    file.write_text("\n".join([header, ",".join(values), rest]))
    file.with_suffix(".good").write_text(good)
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[-1]).success
    return file


def evaluations(result: dg.ExecuteInProcessResult, key: dg.AssetKey, check: str) -> dict[str | None, Any]:
    found = [
        event.event_specific_data
        for event in result.all_events
        if event.event_type_value == "ASSET_CHECK_EVALUATION"
    ]
    return {each.partition: each for each in found if (each.asset_key, each.check_name) == (key, check)}


def shown(instance: dg.DagsterInstance, check: str) -> dict[str | None, str]:
    """What Dagster shows of each partition of Silver's check: what is said of another load, it does not."""
    key = dg.AssetCheckKey(SILVER, check)
    infos = instance.event_log_storage.get_asset_check_partition_info([key])
    return {info.partition_key: info.latest_execution_status.value for info in infos if info.is_current}


def test_a_bad_day_of_a_range_is_the_one_that_fails(
    bad_day: Path, materialize: Materialize, query: Query, instance: dg.DagsterInstance
) -> None:
    result = materialize("silver.flights", "gold.daily_airport_performance", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    assert query("select distinct flight_date::varchar from silver.flights order by 1") == [
        (DAYS[0],),
        (DAYS[2],),
    ]
    assert instance.get_materialized_partitions(SILVER) == {DAYS[0], DAYS[2]}
    assert shown(instance, "validity_dep_delay") == {
        DAYS[0]: "SUCCEEDED",
        BAD: "FAILED",
        DAYS[2]: "SUCCEEDED",
    }
    judged = evaluations(result, SILVER, "validity_dep_delay")
    assert {day: (each.passed, each.blocking) for day, each in judged.items()} == {
        DAYS[0]: (True, True),
        BAD: (False, True),
        DAYS[2]: (True, True),
    }
    metadata = judged[BAD].metadata
    assert metadata["measured"].value == 1
    assert metadata["run"].value == result.run_id
    assert "5760" in metadata["sample"].value
    assert evaluations(result, SILVER, "validity_dest")[DAYS[0]].severity == dg.AssetCheckSeverity.WARN
    assert not instance.get_materialized_partitions(GOLD)  # a blocking check stops what depends on it

    bad_day.write_text(bad_day.with_suffix(".good").read_text())
    assert materialize(
        "bronze.flights", "silver.flights", "gold.daily_airport_performance", start=BAD
    ).success
    assert query("select count(distinct flight_date) from silver.flights") == [(3,)]


def test_no_reader_ever_sees_what_fails(
    bad_day: Path, materialize: Materialize, query: Query, instance: dg.DagsterInstance
) -> None:
    bad = bad_day.read_text()
    bad_day.write_text(bad_day.with_suffix(".good").read_text())
    assert materialize("bronze.flights", "silver.flights", start=BAD).success
    assert shown(instance, "validity_dep_delay") == {BAD: "SUCCEEDED"}
    table = open_catalog(Settings()).load_table("silver.flights")
    before = table.metadata.current_snapshot_id
    bad_day.write_text(bad)
    assert materialize("bronze.flights", start=BAD).success

    seen: list[tuple[Any, ...]] = []
    over = threading.Event()

    def poll() -> None:
        while not over.wait(0.05):
            seen.extend(query("select count(*), count(*) filter (dep_delay > 2880) from silver.flights"))

    reader = threading.Thread(target=poll)
    reader.start()
    try:
        assert not materialize("silver.flights", start=BAD).success
    finally:
        over.set()
        reader.join()

    assert shown(instance, "validity_dep_delay") == {BAD: "FAILED"}  # not the good load's
    assert len(seen) > 10
    assert {late for _, late in seen} == {0}
    assert len({rows for rows, _ in seen}) == 1
    assert open_catalog(Settings()).load_table("silver.flights").metadata.current_snapshot_id == before


def test_the_sql_of_a_failed_check_finds_the_rows(
    bad_day: Path, settings: Settings, materialize: Materialize
) -> None:
    result = materialize("silver.flights", start=BAD)

    sql = evaluations(result, SILVER, "validity_dep_delay")[BAD].metadata["failing_rows"].value
    where = re.search(r"run_id = '(.*)' and refused_partition = '(.*)' and \((.*)\)\n", sql)
    assert where is not None
    run_id, day, condition = where.groups()
    refused = settings.data_dir / "refused" / "silver.flights"
    files = refused / f"run_id={run_id}" / f"refused_partition={day}" / "*.parquet"
    rows = duckdb.sql(f"select dep_delay from read_parquet('{files}') where {condition}").fetchall()
    assert rows == [(5760,)]


def test_a_warning_is_seen_and_stops_nothing(bad_day: Path, materialize: Materialize, query: Query) -> None:
    result = materialize("silver.flights", "gold.daily_airport_performance", start=DAYS[0])

    assert result.success
    unknown = evaluations(result, SILVER, "validity_dest")[DAYS[0]]
    assert (unknown.passed, unknown.blocking) == (False, False)
    [(count,)] = query(
        "select count(*) from silver.flights where dest not in (select faa from silver.airports)"
    )
    assert unknown.metadata["measured"].value == count > 0
    assert f"flight_date = date '{DAYS[0]}'" in unknown.metadata["failing_rows"].value


def test_checks_alone_judge_what_is_published(
    bad_day: Path, materialize: Materialize, query: Query, instance: dg.DagsterInstance
) -> None:
    from lakehouse.definitions import defs

    for day in (DAYS[0], DAYS[2]):
        assert materialize("silver.flights", start=day).success
    graph = defs.resolve_asset_graph()
    keys = [key for key in graph.asset_check_keys if key.asset_key == SILVER and key.name == "validity_dest"]
    job = dg.define_asset_job("alone", selection=dg.AssetSelection.checks(*keys)).resolve(asset_graph=graph)

    result = job.execute_in_process(instance=instance)

    judged = evaluations(result, SILVER, "validity_dest")
    assert list(judged) == [DAYS[0], DAYS[2]]
    sql = judged[DAYS[0]].metadata["failing_rows"].value.removeprefix("```sql").removesuffix("```")
    assert len(query(sql)) == judged[DAYS[0]].metadata["measured"].value > 0
    assert not result.get_asset_materialization_events()


def test_a_table_as_a_whole_is_judged_after_a_range_and_alone(
    bad_day: Path, materialize: Materialize, instance: dg.DagsterInstance
) -> None:
    result = materialize("bronze.flights", start=DAYS[0], end=DAYS[-1])

    late = evaluations(result, BRONZE, "freshness_due_partition")
    assert {day: (each.passed, each.blocking) for day, each in late.items()} == {None: (False, False)}
    assert "2013-05-04, 2013-05-05" in late[None].metadata["note"].value
    assert evaluations(result, BRONZE, "completeness_missing_partitions")[None].passed
    assert result.success

    key = dg.AssetCheckKey(BRONZE, "completeness_missing_partitions")
    load_table(open_catalog(Settings()), "bronze.flights").delete(f"flight_date = '{BAD}'")  # type: ignore[union-attr]
    alone = alone_judged(instance, key)
    assert not alone.passed
    assert BAD in alone.metadata["note"].value


def alone_judged(instance: dg.DagsterInstance, key: dg.AssetCheckKey) -> Any:
    """What a check comes to that is executed without building anything."""
    from lakehouse.definitions import defs

    job = dg.define_asset_job("alone", selection=dg.AssetSelection.checks(key))
    result = job.resolve(asset_graph=defs.resolve_asset_graph()).execute_in_process(instance=instance)
    [evaluation] = evaluations(result, key.asset_key, key.name).values()
    return evaluation


def test_checks_of_bronze_alone_judge_what_is_published(
    bad_day: Path, instance: dg.DagsterInstance, query: Query
) -> None:
    from lakehouse.definitions import defs

    table = load_table(open_catalog(Settings()), "bronze.flights")
    assert table is not None
    table.delete(f"flight_date = '{BAD}' and carrier <> 'UA'")
    before = query("select count(*) from bronze.flights")
    key = dg.AssetCheckKey(BRONZE, "completeness_gate_row_count")
    job = dg.define_asset_job("alone", selection=dg.AssetSelection.checks(key))

    result = job.resolve(asset_graph=defs.resolve_asset_graph()).execute_in_process(instance=instance)

    judged = evaluations(result, BRONZE, key.name)
    [(left,)] = query(f"select count(*) from bronze.flights where flight_date = '{BAD}'")
    assert judged[BAD].metadata["rows"].value == left
    assert {*judged} == {*DAYS}
    assert query("select count(*) from bronze.flights") == before


def test_an_asset_can_be_built_without_its_checks(
    bad_day: Path, instance: dg.DagsterInstance, query: Query
) -> None:
    from lakehouse.definitions import defs

    selection = dg.AssetSelection.assets(BRONZE, SILVER).without_checks()
    job = dg.define_asset_job("unchecked", selection=selection).resolve(
        asset_graph=defs.resolve_asset_graph()
    )

    good = job.execute_in_process(instance=instance, partition_key=DAYS[0], raise_on_error=False)
    bad = job.execute_in_process(instance=instance, partition_key=BAD, raise_on_error=False)

    assert good.success and not bad.success  # what the contract refuses is not published all the same
    assert query("select distinct flight_date::varchar from silver.flights") == [(DAYS[0],)]
