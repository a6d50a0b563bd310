"""What follows what, decided as Dagster's daemon decides it, over this lakehouse's own graph."""

from collections.abc import Iterator

import dagster as dg
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)
from instances import in_memory

from lakehouse.orchestration.materialized import latest_materializations

DAYS = dg.DailyPartitionsDefinition("2013-01-01", end_date="2013-03-01", timezone="America/New_York")
MONTHS = dg.MonthlyPartitionsDefinition("2013-01-01", end_date="2013-03-01", timezone="America/New_York")
BRONZE, REFERENCE = dg.AssetKey(["bronze", "sales"]), dg.AssetKey(["silver", "shops"])
SILVER, GOLD, MONTHLY = (
    dg.AssetKey(["silver", "sales"]),
    dg.AssetKey(["gold", "daily"]),
    dg.AssetKey(["gold", "monthly"]),
)
CHECK, TEST = "row_count", "whole_table_test"


class Lake:
    """A graph of every kind of table; what is built is noted, and a tick says what is to be built."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        from lakehouse.orchestration.automation import with_automation
        from lakehouse.orchestration.contract_checks import check_spec

        specs = [
            dg.AssetSpec(BRONZE, partitions_def=DAYS),
            dg.AssetSpec(REFERENCE),
            dg.AssetSpec(SILVER, deps=[BRONZE, REFERENCE], partitions_def=DAYS),
            dg.AssetSpec(GOLD, deps=[SILVER], partitions_def=DAYS),
            dg.AssetSpec(MONTHLY, deps=[SILVER], partitions_def=MONTHS),
        ]
        checks = {
            SILVER: [
                check_spec(SILVER, CHECK, "", DAYS),
                check_spec(SILVER, TEST, "", None),
            ]
        }

        def asset(spec: dg.AssetSpec) -> dg.AssetsDefinition:
            policy = dg.BackfillPolicy.single_run() if spec.partitions_def else None

            @dg.multi_asset(
                specs=[spec],
                check_specs=checks.get(spec.key, []),
                backfill_policy=policy,
                name="__".join(spec.key.path),
            )
            def build():  # type: ignore[no-untyped-def]
                """Never run: what is built is noted."""

            return build

        self.instance = instance
        self.defs = dg.Definitions(with_automation([asset(spec) for spec in specs]))
        self.cursor: dg.AutomationConditionCursor | None = None

    def built(self, key: dg.AssetKey, *partitions: str | None) -> None:
        for partition in partitions or (None,):
            self.instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=partition))

    def judged(self, check: str, *, passed: bool, partition: str | None = None) -> None:
        [record] = latest_materializations(self.instance, SILVER, [partition] if partition else None).values()
        target = AssetCheckEvaluationTargetMaterializationData(
            storage_id=record.storage_id, run_id=record.run_id, timestamp=record.timestamp
        )
        self.instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                SILVER,
                check,
                passed,
                target_materialization_data=target,
                blocking=True,
                partition=partition,
            )
        )

    def tick(self) -> dict[str, set[str]]:
        """What is asked for, by table."""
        result = dg.evaluate_automation_conditions(self.defs, self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        asked = {
            key.to_user_string(): {str(part) for part in result.get_requested_partitions(key)}
            for key in (SILVER, GOLD, MONTHLY)
        }
        return {key: partitions for key, partitions in asked.items() if partitions}


@pytest.fixture
def lake() -> Iterator[Lake]:
    with in_memory() as instance:
        lake = Lake(instance)
        lake.built(REFERENCE)
        yield lake


def test_a_lakehouse_that_is_built_already_is_not_built_again(lake: Lake) -> None:
    for key in (BRONZE, SILVER, GOLD):
        lake.built(key, *DAYS.get_partition_keys())
    lake.built(MONTHLY, *MONTHS.get_partition_keys())
    assert lake.tick() == {}
    assert lake.tick() == {}


def test_an_old_day_reaches_what_is_built_of_it_and_nothing_else(lake: Lake) -> None:
    for key in (BRONZE, SILVER, GOLD):
        lake.built(key, *DAYS.get_partition_keys())
    lake.built(MONTHLY, *MONTHS.get_partition_keys())
    lake.tick()
    lake.built(BRONZE, "2013-01-05", "2013-01-07")
    days = {"2013-01-05", "2013-01-07"}
    assert lake.tick() == {"silver/sales": days, "gold/daily": days}
    assert lake.tick() == {}  # the month waits for the days themselves
    lake.built(SILVER, *days)
    lake.built(GOLD, *days)
    assert lake.tick() == {"gold/monthly": {"2013-01-01"}}
    lake.built(MONTHLY, "2013-01-01")
    assert lake.tick() == {}


def test_nothing_is_built_before_its_parents(lake: Lake) -> None:
    lake.tick()
    assert lake.tick() == {}
    lake.built(BRONZE, "2013-02-03")
    assert lake.tick() == {"silver/sales": {"2013-02-03"}, "gold/daily": {"2013-02-03"}}
    lake.built(SILVER, "2013-02-03")
    assert lake.tick() == {"gold/monthly": {"2013-02-01"}}


def test_a_day_waits_for_its_reference_table() -> None:
    with in_memory() as instance:
        lake = Lake(instance)
        lake.tick()
        lake.built(BRONZE, "2013-02-03")
        assert lake.tick() == {}
        lake.built(REFERENCE)
        assert lake.tick() == {"silver/sales": {"2013-02-03"}, "gold/daily": {"2013-02-03"}}


def test_a_reference_table_that_is_loaded_anew_rebuilds_no_history(lake: Lake) -> None:
    for key in (BRONZE, SILVER, GOLD):
        lake.built(key, *DAYS.get_partition_keys())
    lake.tick()
    lake.built(REFERENCE)
    assert lake.tick() == {}


def test_nothing_is_built_past_a_failed_blocking_check(lake: Lake) -> None:
    lake.tick()
    lake.built(SILVER, "2013-02-03", "2013-02-04")
    lake.judged(CHECK, passed=False, partition="2013-02-03")
    lake.judged(CHECK, passed=True, partition="2013-02-04")
    assert lake.tick() == {"gold/daily": {"2013-02-04"}, "gold/monthly": {"2013-02-01"}}


def test_a_test_of_the_whole_table_that_failed_holds_up_what_is_built_of_it_until_it_passes(
    lake: Lake,
) -> None:
    lake.tick()
    lake.built(SILVER, "2013-02-03")
    lake.judged(TEST, passed=False)
    assert lake.tick() == {}
    lake.judged(TEST, passed=True)
    assert lake.tick() == {"gold/daily": {"2013-02-03"}, "gold/monthly": {"2013-02-01"}}


def test_of_this_lakehouse_silver_and_gold_follow() -> None:
    from lakehouse.definitions import defs

    following = {
        spec.key.to_user_string() for spec in defs.resolve_all_asset_specs() if spec.automation_condition
    }
    every = {spec.key.to_user_string() for spec in defs.resolve_all_asset_specs()}
    assert following == {key for key in every if key.startswith(("silver/", "gold/"))}
