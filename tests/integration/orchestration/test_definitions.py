"""The asset graph as the UI shows it."""

import json

import dagster as dg
import pytest

from lakehouse.definitions import defs
from lakehouse.orchestration.dbt_project import dbt_project
from lakehouse.settings import Settings

TABLES = {
    "bronze/airlines": set(),
    "bronze/airports": set(),
    "bronze/flights": set(),
    "bronze/planes": set(),
    "bronze/weather": set(),
    "silver/airlines": {"bronze/airlines"},
    "silver/airports": {"bronze/airports"},
    "silver/flights": {"bronze/flights", "silver/airports"},
    "silver/planes": {"bronze/planes"},
    "silver/weather": {"bronze/weather", "silver/airports"},
    "gold/daily_airport_performance": {"silver/flights"},
    "gold/daily_delay_by_weather": {"silver/flights", "silver/weather"},
    "gold/monthly_carrier_performance": {"silver/flights", "silver/airlines"},
    "gold/monthly_fleet_age_and_delay": {"silver/flights", "silver/planes"},
    "gold/monthly_route_reliability": {"silver/flights", "silver/airports"},
}
PARTITIONS = {
    "bronze/flights": 365,
    "bronze/weather": 365,
    "silver/flights": 365,
    "silver/weather": 365,
    "gold/daily_airport_performance": 365,
    "gold/daily_delay_by_weather": 365,
    "gold/monthly_carrier_performance": 12,
    "gold/monthly_fleet_age_and_delay": 12,
    "gold/monthly_route_reliability": 12,
}


@pytest.fixture(scope="module")
def specs() -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}


def test_the_graph_is_connected_and_has_no_other_nodes(specs: dict[str, dg.AssetSpec]) -> None:
    assert {
        key: {dep.asset_key.to_user_string() for dep in spec.deps} for key, spec in specs.items()
    } == TABLES | {"quality_report": set()}
    nodes = defs.resolve_asset_graph().asset_nodes
    assert {node.key.to_user_string() for node in nodes if node.is_executable} == {*TABLES, "quality_report"}
    assert {node.key.to_user_string() for node in nodes} == {*TABLES, "quality_report"}


def test_every_dbt_test_is_a_check_of_an_asset() -> None:
    manifest = json.loads(dbt_project(Settings()).manifest_path.read_text(encoding="utf-8"))
    tests = {node["name"] for node in manifest["nodes"].values() if node["resource_type"] == "test"}
    assert tests
    assert tests - {key.name for key in defs.resolve_asset_graph().asset_check_keys} == set()


def test_a_dbt_test_that_has_a_sentence_says_it_as_a_check() -> None:
    manifest = json.loads(dbt_project(Settings()).manifest_path.read_text(encoding="utf-8"))
    said = {
        node["name"]: node["description"]
        for node in manifest["nodes"].values()
        if node["resource_type"] == "test" and node["description"]
    }
    graph = defs.resolve_asset_graph()
    shown = {key.name: graph.get(key).description for key in graph.asset_check_keys}
    assert len(said) > 3
    assert {name: shown[name] for name in said} == said


def test_partitions_are_local_days_and_months(specs: dict[str, dg.AssetSpec]) -> None:
    sizes = {
        key: spec.partitions_def.get_num_partitions()
        for key, spec in specs.items()
        if spec.partitions_def is not None
    }
    assert sizes == PARTITIONS
    assert specs["silver/flights"].partitions_def.timezone == "America/New_York"


@pytest.mark.parametrize("key", TABLES)
def test_every_asset_says_what_it_is(specs: dict[str, dg.AssetSpec], key: str) -> None:
    spec = specs[key]
    layer = key.split("/", maxsplit=1)[0]
    assert spec.group_name == layer
    assert spec.owners
    assert spec.description
    assert {"iceberg", layer} < spec.kinds
    assert ("dlt" if layer == "bronze" else "dbt") in spec.kinds
    schema = spec.metadata["dagster/column_schema"]
    columns = getattr(schema, "value", schema).columns
    assert columns
    assert all(column.description for column in columns)
