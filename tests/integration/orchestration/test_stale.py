"""A model whose SQL has changed leaves behind the partitions that it built before, and they are named."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from lakehouse.cli import main
from lakehouse.orchestration import dbt_run, project, reporting
from lakehouse.orchestration.code_version import code_version
from lakehouse.orchestration.dbt_project import dbt_project
from lakehouse.settings import Settings

Materialize = Callable[..., dg.ExecuteInProcessResult]

DAYS = ["2013-01-01", "2013-01-02", "2013-01-03"]
SILVER = "silver.flights"


@pytest.fixture
def instance(kept_instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    """For all fixtures of these tests, and for the command."""
    monkeypatch.setattr(project, "project_instance", lambda _: nullcontext(kept_instance))
    return kept_instance


@pytest.fixture
def built(seed_days: Callable[[Sequence[str]], None], materialize: Materialize) -> None:
    """Three days of Silver, and the airports."""
    seed_days(DAYS)
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize("bronze.flights", SILVER, start=DAYS[0], end=DAYS[2]).success


def stale(*options: str) -> Result:
    return CliRunner().invoke(main, ["stale", *options])


def _of_an_older_model(*args: Any) -> dict[str, str]:
    return reporting.provenance(*args) | {"dagster/code_version": "of older SQL"}


def test_partitions_that_a_changed_model_built_are_named_until_they_are_built_again(
    request: pytest.FixtureRequest, materialize: Materialize, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(dbt_run, "provenance", _of_an_older_model)
        request.getfixturevalue("built")
    said = stale()
    assert said.exit_code == 0, said.output
    lines = [line.split() for line in said.output.splitlines()[1:]]
    whole = [[f"silver.{table}", "1", "1", "0"] for table in ("airlines", "airports")]
    flights = [SILVER, "3", "3", "0", f"[{DAYS[0]}...{DAYS[2]}]"]
    assert lines == [*whole, flights, ["silver.planes", "1", "1", "0"]]

    assert materialize(SILVER, start=DAYS[1]).success
    [left] = json.loads(stale(SILVER, "--format", "json").output)
    assert left["ranges"] == f"{DAYS[0]}, {DAYS[2]}"
    assert materialize(SILVER, start=DAYS[0], end=DAYS[2]).success
    assert stale(SILVER).output == f"All that is built of {SILVER} is built by the models as they are.\n"


def test_a_partition_that_was_set_back_is_not_taken_for_one_that_is_up_to_date(
    built: None, instance: dg.DagsterInstance, materialize: Materialize
) -> None:
    wiped = CliRunner().invoke(main, ["wipe", SILVER, "--partition", DAYS[1], "--yes"])
    assert stale(SILVER).output == f"All that is built of {SILVER} is built by the models as they are.\n"
    undo = wiped.output.splitlines()[-1].split("`")[1].split()[1:]
    assert CliRunner().invoke(main, [*undo, "--yes"]).exit_code == 0
    [line] = [line.split() for line in stale(SILVER).output.splitlines()[1:]]
    assert line == [SILVER, "3", "1", "1", DAYS[1]]


def test_no_such_table_is_a_sentence(instance: dg.DagsterInstance) -> None:
    refused = stale("silver.nothing")
    assert refused.exit_code == 1
    assert refused.output.startswith("Error: There is no table silver.nothing. Tables: bronze.airlines")


def test_a_changed_macro_of_the_project_changes_the_models_that_call_it_and_no_other(
    settings: Settings,
) -> None:
    manifest: dict[str, Any] = json.loads(Path(dbt_project(settings).manifest_path).read_text())
    flights, airports = (f"model.lakehouse.{model}" for model in ("flights", "airports"))
    before = {model: code_version(manifest, model) for model in (flights, airports)}
    manifest["macros"]["macro.lakehouse.duckdb__local_time"]["macro_sql"] += "-- another"
    assert code_version(manifest, flights) != before[flights]
    assert code_version(manifest, airports) == before[airports]
