"""Alerts through Dagster: what goes wrong in a step reaches a real server, once, and never fails a load."""

import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest
from alert_server import TOKEN, AlertServer, alert_server

from lakehouse.catalog import open_catalog
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings

Materialize = Callable[..., dg.ExecuteInProcessResult]

APPENDED = """\
dataset: lakehouse/bronze/meter
version: "1.0.0"
owner: team:meters
tier: 3
columns:
- {name: id, data_type: integer}
- name: n
  data_type: integer
  checks: [{invalid: {valid_min: 0, attributes: {quarantine: true}}}]
"""
DAYS = ["2013-05-01", "2013-05-02", "2013-05-03"]
BAD = DAYS[1]


@pytest.fixture
def server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[AlertServer]:
    with alert_server() as server:
        monkeypatch.setenv("LAKEHOUSE_ALERT_URLS", server.url)
        monkeypatch.setenv("LAKEHOUSE_DAGSTER_URL", "https://dagster.example/")
        yield server


@pytest.fixture
def bad_file(settings: Settings, seed_days: Callable[[Sequence[str]], None]) -> Path:
    """Three days of flights, of which on the second none has an origin that is one."""
    seed_days(DAYS)
    file = settings.source_dir / "flights" / f"{BAD}.csv"
    file.with_suffix(".good").write_text(file.read_text())
    text = file.read_text()
    for origin in ("EWR", "LGA"):
        text = text.replace(f",{origin},", ",XXX,")
    file.write_text(text)
    return file


def mend(file: Path) -> None:
    file.write_text(file.with_suffix(".good").read_text())


def rewrite(file: Path, column: str, value: str) -> None:
    """Give the first row another value."""
    header, first, rest = file.read_text().split("\n", 2)
    values = first.split(",")
    values[header.split(",").index(column)] = value
    file.write_text("\n".join([header, ",".join(values), rest]))


def logged(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(result.run_id)]


def test_under_95_percent_good_rows_the_owner_is_told(
    bad_file: Path, server: AlertServer, materialize: Materialize, instance: dg.DagsterInstance
) -> None:
    result = materialize("bronze.flights", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    [body] = server.bodies  # one for the step, not one for each partition, chunk or check
    lines = body.splitlines()
    assert lines[0] == "[error] bronze.flights: 1 of 3 partitions was not published"
    assert "Owner: team:flights, tier 2" in lines
    assert "- validity_gate_good_rows failed: Few rows are in quarantine (blocks)" in lines
    [measured] = [line for line in lines if line.startswith(f"    {BAD}: ")]
    assert "% are good, and 95 % must be" in measured
    assert f"Run: https://dagster.example/runs/{result.run_id}" in lines
    assert "select * from refused.bronze_flights" in body
    assert server.received[0]["type"] == "failure"
    log = logged(instance, result)
    assert any(lines[0] in entry for entry in log)
    assert not any(TOKEN in entry for entry in log)
    assert "XXX" not in body


def test_a_retry_is_silent_until_it_is_mended(
    bad_file: Path, server: AlertServer, materialize: Materialize, instance: dg.DagsterInstance
) -> None:
    bad = bad_file.read_text()
    materialize("bronze.flights", start=BAD)
    again = materialize("bronze.flights", start=BAD)
    assert not again.success
    assert len(server.received) == 1
    assert any("No alert is sent" in entry for entry in logged(instance, again))

    mend(bad_file)
    assert materialize("bronze.flights", start=BAD).success
    assert len(server.received) == 1
    bad_file.write_text(bad)
    materialize("bronze.flights", start=BAD)
    assert len(server.received) == 2


def test_quarantine_is_told_when_it_grows(
    bad_file: Path, server: AlertServer, materialize: Materialize
) -> None:
    mend(bad_file)
    rewrite(bad_file, "origin", "XXX")
    assert materialize("bronze.flights", start=BAD).success
    assert materialize("bronze.flights", start=BAD).success
    [body] = server.bodies
    assert body.startswith("[warning] bronze.flights: 1 row was set aside in quarantine\n")
    assert f"    {BAD}: 1 row\n" in body
    assert "lakehouse quarantine show bronze.flights" in body
    assert server.received[0]["type"] == "warning"

    rewrite(bad_file, "origin", "JFK")  # now two others
    bad_file.write_text(bad_file.read_text().replace(",EWR,", ",XXX,", 2))
    assert materialize("bronze.flights", start=BAD).success
    assert f"    {BAD}: 2 rows\n" in server.bodies[1]


def test_a_model_that_refuses_a_day_tells_without_its_rows(
    bad_file: Path, server: AlertServer, materialize: Materialize
) -> None:
    mend(bad_file)
    rewrite(bad_file, "dep_delay", "5760")
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[-1]).success
    assert server.received == []

    result = materialize("silver.flights", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    [body] = server.bodies
    assert body.startswith("[error] silver.flights: 1 of 3 partitions was not published\n")
    assert "- validity_dep_delay failed: " in body
    assert f"    {BAD}: 1, must be 0" in body
    assert "- validity_dest warned: " in body  # only beside what failed
    assert "5760" not in body
    assert "The step failed" not in body  # the partition's reason says it


def test_a_warning_alone_is_an_alert_only_if_that_is_set(
    bad_file: Path, server: AlertServer, materialize: Materialize, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize("bronze.flights", start=DAYS[0]).success
    assert materialize("silver.flights", start=DAYS[0]).success
    assert server.received == []

    monkeypatch.setenv("LAKEHOUSE_ALERT_WARNINGS", "1")
    assert materialize("silver.flights", start=DAYS[0]).success
    [body] = server.bodies
    assert body.startswith("[warning] silver.flights: ")
    assert "- validity_dest warned: " in body


def test_a_source_that_is_missing_is_told(
    settings: Settings, server: AlertServer, materialize: Materialize
) -> None:
    settings.source_dir.mkdir(parents=True)
    assert not materialize("bronze.airports").success
    [body] = server.bodies
    assert body.startswith("[error] bronze.airports: the step failed\n")
    assert "operational.db does not exist" in body


def test_a_server_that_never_answers_does_not_hold_the_load(
    bad_file: Path, materialize: Materialize, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    mend(bad_file)
    rewrite(bad_file, "origin", "XXX")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection and says nothing
        port = silent.getsockname()[1]
        monkeypatch.setenv("LAKEHOUSE_ALERT_URLS", f"json://127.0.0.1:{port}/{TOKEN}?rto=600&cto=600")
        monkeypatch.setenv("LAKEHOUSE_ALERT_TIMEOUT_SECONDS", "2")
        begun = time.monotonic()
        result = materialize("bronze.flights", start=BAD)
        took = time.monotonic() - begun

    assert result.success
    assert took < 60
    log = logged(instance, result)
    assert "The alert did not reach target 1 (json://***): it did not answer in 2 s." in log
    assert not any(TOKEN in entry for entry in log)


def test_what_nobody_took_is_told_by_the_next_run(
    bad_file: Path, server: AlertServer, materialize: Materialize, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("LAKEHOUSE_ALERT_URLS", f"json://127.0.0.1:{port}/{TOKEN}")
    assert not materialize("bronze.flights", start=BAD).success
    monkeypatch.setenv("LAKEHOUSE_ALERT_URLS", server.url)
    materialize("bronze.flights", start=BAD)
    assert len(server.received) == 1


def test_checks_run_alone_tell_too(
    bad_file: Path,
    server: AlertServer,
    materialize: Materialize,
    instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lakehouse.definitions import defs

    monkeypatch.setenv("LAKEHOUSE_ALERT_WARNINGS", "1")
    assert materialize("bronze.airlines", "silver.airlines").success
    graph = defs.resolve_asset_graph()
    airlines = dg.AssetKey(["silver", "airlines"])
    keys = [key for key in graph.asset_check_keys if key.asset_key == airlines and "required" in key.name]
    job = dg.define_asset_job("alone", selection=dg.AssetSelection.checks(*keys)).resolve(asset_graph=graph)
    catalog = open_catalog(Settings())
    table = catalog.load_table("silver.airlines")
    with table.transaction() as change:  # as if somebody had written to it past us
        rows = table.scan().to_arrow()
        change.overwrite(
            rows.set_column(1, rows.schema.field(1), pa.nulls(len(rows), rows.schema.field(1).type))
        )

    job.execute_in_process(instance=instance, raise_on_error=False)

    [body] = server.bodies
    assert body.startswith("[error] silver.airlines: 1 check failed\n")
    assert "- completeness_required_columns failed: every row has carrier, name (blocks)" in body


def test_a_table_that_is_refused_as_a_whole_is_told_once(
    bad_file: Path, settings: Settings, server: AlertServer, materialize: Materialize
) -> None:
    with closing(sqlite3.connect(settings.source_dir / "operational.db")) as operational:
        operational.execute("delete from airlines")
        operational.commit()
    assert not materialize("bronze.airlines").success
    [body] = server.bodies
    assert body.startswith("[error] bronze.airlines was not published\n")
    assert "The step failed" not in body
    assert "refused." not in body  # there were no rows to keep


def test_a_failed_dbt_test_is_told_though_the_days_are_published(
    bad_file: Path, server: AlertServer, materialize: Materialize
) -> None:
    """No row is wrong by the contract: that a flight lasts as long as it flew, dbt tests."""
    mend(bad_file)
    rewrite(bad_file, "air_time", "690")
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[-1]).success

    result = materialize("silver.flights", start=DAYS[0], end=DAYS[-1])

    assert not result.success
    [body] = server.bodies
    lines = body.splitlines()
    assert lines[0] == "[error] silver.flights: 1 check failed"
    assert "Owner: team:flights, tier 2" in lines
    [failed] = [at for at, line in enumerate(lines) if line.startswith("- flights_last_as_long")]
    assert lines[failed].startswith(
        "- flights_last_as_long_as_they_flew failed: Arrivals follow departures by at least the time"
    )
    assert lines[failed + 1] == "    failed_row_count 1"
    assert "not published" not in body
    assert "690" not in body
    assert "The step failed" not in body  # the test's own result says it

    assert not materialize("silver.flights", start=DAYS[0], end=DAYS[-1]).success
    assert len(server.received) == 1
    mend(bad_file)
    assert materialize("bronze.flights", start=BAD).success
    assert materialize("silver.flights", start=BAD).success
    assert len(server.received) == 1


def appended(contract: Path) -> dg.AssetsDefinition:
    """A source that brings a bad row at each load, beside good ones that are new."""
    contract.parent.mkdir(parents=True)
    contract.write_text(APPENDED)
    loads = iter(range(10))

    def extract(_: Extraction) -> Iterator[list[dict[str, int]]]:
        first = next(loads) * 100
        yield [{"id": first + number, "n": -1 if number == 0 else 1} for number in range(100)]

    source = BronzeSource("meter", read_columns(contract), extract, "the meter", write_disposition="append")
    return bronze_asset(source, owners=["team:meters"])


def test_what_each_load_of_an_append_sets_aside_is_told(
    settings: Settings,
    server: AlertServer,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a load there is no earlier one to compare with; but who knows is not told at each."""
    meter = appended(tmp_path / "bronze" / "meter.yml")

    def load() -> None:
        assert dg.materialize([meter], instance=instance, raise_on_error=False).success

    load()
    load()
    [body] = server.bodies
    assert body.startswith("[warning] bronze.meter: 1 row was set aside in quarantine\n")
    assert "Owner: team:meters, tier 3" in body
    assert "    1 row\n" in body
    assert "lakehouse quarantine show bronze.meter" in body

    monkeypatch.setenv("LAKEHOUSE_ALERT_REPEAT_MINUTES", "0")
    load()
    assert [message["type"] for message in server.received] == ["warning", "warning"]
