"""Silver and Gold through Dagster: rows, partitions, metadata and failures."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg
import pytest

from lakehouse.catalog import open_catalog
from lakehouse.settings import Settings

Query = Callable[[str], list[tuple[Any, ...]]]
Materialize = Callable[..., dg.ExecuteInProcessResult]

DAYS = ["2013-03-09", "2013-03-10", "2013-03-11"]  # the clocks go forward on the second
DAILY = ("bronze.flights", "silver.flights", "gold.daily_airport_performance")
CONTENTS = {
    "bronze.flights": "select * exclude (_load_id, _loaded_at) from bronze.flights order by all",
    "silver.flights": "select * from silver.flights order by all",
    "gold.daily_airport_performance": "select * from gold.daily_airport_performance order by all",
    "gold.monthly_carrier_performance": "select * from gold.monthly_carrier_performance order by all",
}


@pytest.fixture
def days(seed_days: Callable[[Sequence[str]], None], materialize: Materialize) -> None:
    """The files of three days, and the reference tables in Bronze and Silver."""
    seed_days(DAYS)
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success


@pytest.mark.usefixtures("days")
def test_a_range_equals_single_days_in_any_order_done_twice(
    settings: Settings, materialize: Materialize, query: Query
) -> None:
    for day in (DAYS[1], DAYS[2], DAYS[0]):
        assert materialize(*DAILY, start=day).success
    assert materialize("gold.monthly_carrier_performance", start="2013-03-01").success
    single = {table: query(contents) for table, contents in CONTENTS.items()}

    result = materialize(*DAILY, start=DAYS[0], end=DAYS[-1])
    assert result.success
    assert materialize("gold.monthly_carrier_performance", start="2013-03-01").success
    assert {table: query(contents) for table, contents in CONTENTS.items()} == single

    rows = {table: len(contents) for table, contents in single.items()}
    assert rows["bronze.flights"] == rows["silver.flights"] > 0
    assert rows["gold.daily_airport_performance"] == 3 * len(DAYS)
    _reports_each_partition(result, query)
    _is_incomplete(query)
    _says_what_it_is_made_of(settings, result)


def _reports_each_partition(result: dg.ExecuteInProcessResult, query: Query) -> None:
    events = result.asset_materializations_for_node("dbt_models_by_day")
    assert Counter((event.asset_key.path[-1], event.partition) for event in events) == Counter(
        (table, day) for table in ("flights", "daily_airport_performance") for day in DAYS
    )
    counted = {
        event.partition: event.metadata["dagster/partition_row_count"].value
        for event in events
        if event.asset_key.path[-1] == "flights"
    }
    assert counted == dict(query("select flight_date::varchar, count(*) from silver.flights group by 1"))


def _is_incomplete(query: Query) -> None:
    assert query(
        "select distinct days_loaded, days_in_month, is_complete from gold.monthly_carrier_performance"
    ) == [(len(DAYS), 31, False)]


def _says_what_it_is_made_of(settings: Settings, result: dg.ExecuteInProcessResult) -> None:
    event = result.asset_materializations_for_node("dbt_models_by_day")[-1]
    table = open_catalog(settings).load_table(".".join(event.asset_key.path))
    assert event.metadata["snapshot_id"].value == str(table.metadata.current_snapshot_id)
    lineage = event.metadata["dagster/column_lineage"].value.deps_by_column
    assert dg.TableColumnDep(dg.AssetKey(["silver", "flights"]), "dep_delay") in lineage["avg_dep_delay"]
    columns = {column.name for column in event.metadata["dagster/column_schema"].value.columns}
    assert columns == {field.name for field in table.schema().fields}


def test_a_bad_day_in_silver_fails_alone_and_stops_gold(
    settings: Settings,
    instance: dg.DagsterInstance,
    seed_days: Callable[[Sequence[str]], None],
    materialize: Materialize,
    query: Query,
) -> None:
    import sqlite3

    seed_days(DAYS)
    with sqlite3.connect(settings.source_dir / "operational.db") as database:
        database.execute("insert into airports (faa, name, tzone) values ('XXX', 'Nowhere', 'Mars/Base')")
    file = settings.source_dir / "flights" / f"{DAYS[1]}.csv"
    file.write_text(file.read_text().replace(",LAX,", ",XXX,", 1))
    assert materialize("bronze.airports", "silver.airports").success

    result = materialize(*DAILY, start=DAYS[0], end=DAYS[-1])

    assert not result.success
    silver = dg.AssetKey(["silver", "flights"])
    assert instance.get_materialized_partitions(silver) == {DAYS[0], DAYS[2]}
    assert not instance.get_materialized_partitions(dg.AssetKey(["gold", "daily_airport_performance"]))
    assert {row[0] for row in query("select distinct flight_date::varchar from silver.flights")} == {
        DAYS[0],
        DAYS[2],
    }
    message = result.failure_data_for_node("dbt_models_by_day").user_failure_data.description
    assert "silver.flights: 1 of 3 partitions not published" in message
    assert DAYS[1] in message
    assert "Mars/Base" in message
    assert "Traceback" not in message


@pytest.mark.usefixtures("days")
def test_a_day_without_its_bronze_day_fails_and_the_others_are_built(
    instance: dg.DagsterInstance, materialize: Materialize, query: Query
) -> None:
    assert materialize("bronze.flights", start=DAYS[0]).success
    assert materialize("bronze.flights", start=DAYS[2]).success

    result = materialize("silver.flights", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    message = result.failure_data_for_node("dbt_models_by_day").user_failure_data.description
    assert f"{DAYS[1]}: bronze/flights was never built for it" in message
    built = {DAYS[0], DAYS[2]}
    assert instance.get_materialized_partitions(dg.AssetKey(["silver", "flights"])) == built
    assert {row[0] for row in query("select distinct flight_date::varchar from silver.flights")} == built


def test_a_model_without_its_inputs_says_which(
    seed_days: Callable[[Sequence[str]], None], materialize: Materialize
) -> None:
    seed_days(DAYS)
    result = materialize("silver.airports")
    message = result.failure_data_for_node("dbt_models").user_failure_data.description
    assert message == "Nothing was built: bronze/airports was never materialized. Do that first."


@pytest.mark.usefixtures("days")
def test_checks_alone_are_evaluated_and_change_no_table(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    from lakehouse.definitions import defs

    before = open_catalog(settings).load_table("silver.airports").metadata.current_snapshot_id
    key = dg.AssetKey(["silver", "airports"])
    checks = [check for check in defs.resolve_asset_graph().asset_check_keys if check.asset_key == key]
    job = dg.define_asset_job("checks", selection=dg.AssetSelection.checks(*checks))
    resolved = job.resolve(asset_graph=defs.resolve_asset_graph())
    result = resolved.execute_in_process(instance=instance)
    assert result.success
    evaluated = {evaluation.asset_check_key for evaluation in result.get_asset_check_evaluations()}
    assert evaluated == set(checks)
    assert not result.get_asset_materialization_events()
    catalog = open_catalog(settings)
    assert catalog.load_table("silver.airports").metadata.current_snapshot_id == before
