"""A person materializes assets by clicking, and finds the result in the UI and in the tables."""

from collections.abc import Iterator

import pytest
from dagster_dev import Lakehouse
from dagster_ui import (
    backfill_succeeds,
    materialize,
    open_graph,
    open_run_of_backfill,
    run_succeeds,
    runs_of_backfill,
)
from playwright.sync_api import Page, expect

ONE_DAY = "2013-01-01"
GOOD_DAYS = ["2013-01-02", "2013-01-03", "2013-01-04"]
FIRST_DAY, BROKEN_DAY, LAST_DAY = "2013-01-05", "2013-01-06", "2013-01-07"
DAYS_OF_MONTH = ["2013-01-08", "2013-01-09", "2013-01-10"]

DAILY = ["bronze/flights", "silver/flights", "gold/daily_airport_performance"]
WHOLE_TABLES = ["bronze/airports", "silver/airports", "bronze/airlines", "silver/airlines"]
MONTHLY = "gold/monthly_carrier_performance"


def table(asset: str) -> str:
    return asset.replace("/", ".")


def a_range(days: list[str]) -> str:
    return f"[{days[0]}...{days[-1]}]"


@pytest.fixture
def whole_tables(page: Page, lakehouse: Lakehouse) -> None:
    """The tables without partitions that flights and their months need; built once, by clicking too."""
    if all(lakehouse.query(table(asset), "select * from this limit 1") for asset in WHOLE_TABLES):
        return
    open_graph(page, *WHOLE_TABLES)
    materialize(page)
    assert run_succeeds(page)


@pytest.fixture
def broken_file(lakehouse: Lakehouse) -> Iterator[str]:
    """A day's file whose fifth line has `n/a` for a number; returns the file as it was."""
    file = lakehouse.file(BROKEN_DAY)
    good = file.read_text(encoding="utf-8")
    lines = good.splitlines(keepends=True)
    values = lines[4].split(",")
    values[lines[0].split(",").index("dep_delay")] = "n/a"
    lines[4] = ",".join(values)
    file.write_text("".join(lines), encoding="utf-8")
    yield good
    file.write_text(good, encoding="utf-8")


@pytest.mark.usefixtures("whole_tables")
def test_whole_tables_are_built_in_one_run(lakehouse: Lakehouse) -> None:
    count = "select count(*) from this"
    for name in ("airports", "airlines"):
        [(bronze,)] = lakehouse.query(f"bronze.{name}", count)
        assert bronze > 0
        assert lakehouse.query(f"silver.{name}", count) == [(bronze,)]


def test_one_day_of_one_asset(page: Page, lakehouse: Lakehouse) -> None:
    before = lakehouse.flights_by_day("bronze.flights")

    page.goto("/assets/bronze/flights")
    materialize(page, ONE_DAY)

    assert run_succeeds(page)
    after = lakehouse.flights_by_day("bronze.flights")
    assert after == before | {ONE_DAY: lakehouse.rows_in_file(ONE_DAY)}


@pytest.mark.usefixtures("whole_tables")
def test_a_range_of_days_through_all_layers(page: Page, lakehouse: Lakehouse) -> None:
    open_graph(page, *DAILY)
    materialize(page, a_range(GOOD_DAYS))
    open_run_of_backfill(page)

    assert run_succeeds(page)
    for asset in DAILY:
        assert_built(lakehouse, asset, GOOD_DAYS)


@pytest.mark.usefixtures("whole_tables")
def test_a_broken_day_fails_alone_and_is_built_when_mended(
    page: Page, lakehouse: Lakehouse, broken_file: str
) -> None:
    open_graph(page, *DAILY)
    materialize(page, a_range([FIRST_DAY, BROKEN_DAY, LAST_DAY]))
    open_run_of_backfill(page)

    assert not run_succeeds(page)
    reason = f"flights/{BROKEN_DAY}.csv is not what was declared: line 5, column dep_delay"
    error = page.get_by_text("bronze.flights: 1 of 3 partitions not published").filter(has_text=reason)
    expect(error.first).to_contain_text('"n/a"')

    assert_built(lakehouse, "bronze/flights", [FIRST_DAY, LAST_DAY])
    assert BROKEN_DAY not in lakehouse.flights_by_day("bronze.flights")
    assert lakehouse.partition_statuses("bronze/flights")[BROKEN_DAY] == "FAILED"
    status, metadata = lakehouse.check_result("bronze/flights", "reconciliation", BROKEN_DAY)
    assert status == "FAILED"
    assert reason in metadata["not_published"]
    page.goto("/assets/bronze/flights?view=partitions")
    expect(page.get_by_text("Failed (1)")).to_be_visible()

    lakehouse.file(BROKEN_DAY).write_text(broken_file, encoding="utf-8")
    materialize(page, quick_choice="Failed")

    assert run_succeeds(page)
    assert_built(lakehouse, "bronze/flights", [FIRST_DAY, BROKEN_DAY, LAST_DAY])
    assert lakehouse.check_result("bronze/flights", "reconciliation", BROKEN_DAY)[0] == "SUCCEEDED"
    page.goto("/assets/bronze/flights?view=partitions")
    expect(page.get_by_text("Failed (0)")).to_be_visible()

    open_graph(page, *DAILY[1:])
    materialize(page, quick_choice="Failed")
    open_run_of_backfill(page)

    assert run_succeeds(page)
    for asset in DAILY:
        assert_built(lakehouse, asset, [FIRST_DAY, BROKEN_DAY, LAST_DAY])


@pytest.fixture
def impossible_day(lakehouse: Lakehouse) -> Iterator[str]:
    """A day whose first flight left four days late, which Silver's contract does not allow."""
    day = DAYS_OF_MONTH[1]
    file = lakehouse.file(day)
    good = file.read_text(encoding="utf-8")
    header, first, rest = good.split("\n", 2)
    values = first.split(",")
    values[header.split(",").index("dep_delay")] = "5760"
    file.write_text("\n".join([header, ",".join(values), rest]), encoding="utf-8")
    yield day
    file.write_text(good, encoding="utf-8")


@pytest.mark.usefixtures("whole_tables")
def test_a_day_that_breaks_the_contract_is_the_one_that_failed(
    page: Page, lakehouse: Lakehouse, impossible_day: str
) -> None:
    open_graph(page, *DAILY)
    materialize(page, a_range(DAYS_OF_MONTH))
    open_run_of_backfill(page)

    assert not run_succeeds(page)
    others = [day for day in DAYS_OF_MONTH if day != impossible_day]
    assert_built(lakehouse, "silver/flights", others)
    assert impossible_day not in lakehouse.flights_by_day("silver.flights")
    assert lakehouse.partition_statuses("silver/flights")[impossible_day] == "FAILED"
    judged = lakehouse.check_statuses("silver/flights", "validity_dep_delay")
    assert {day: judged[day] for day in DAYS_OF_MONTH} == {
        day: "FAILED" if day == impossible_day else "SUCCEEDED" for day in DAYS_OF_MONTH
    }
    assert set(lakehouse.flights_by_day("gold.daily_airport_performance")).isdisjoint(DAYS_OF_MONTH)

    page.goto("/assets/silver/flights?view=checks&checkDetail=validity_dep_delay")
    expect(page.get_by_text(impossible_day).first).to_be_visible()
    page.get_by_text("[Show Markdown]").nth(1).click()
    expect(page.get_by_role("dialog")).to_contain_text("5760")


@pytest.mark.usefixtures("whole_tables")
def test_days_and_their_month_are_one_backfill_of_two_runs(page: Page, lakehouse: Lakehouse) -> None:
    open_graph(page, "bronze/flights", "silver/flights", MONTHLY)
    materialize(page, a_range(DAYS_OF_MONTH))

    assert backfill_succeeds(page)
    page.get_by_role("tab", name="Runs").click()
    expect(runs_of_backfill(page)).to_have_count(2)
    loaded = len(lakehouse.flights_by_day("silver.flights"))
    months = "select distinct month::varchar, is_complete, days_loaded, days_in_month from this"
    assert lakehouse.query(table(MONTHLY), months) == [("2013-01-01", False, loaded, 31)]


def assert_built(lakehouse: Lakehouse, asset: str, days: list[str]) -> None:
    """Dagster says that the days are materialized, and a reader finds every flight of them."""
    statuses = lakehouse.partition_statuses(asset)
    assert {day: statuses.get(day) for day in days} == dict.fromkeys(days, "MATERIALIZED"), asset
    flights = lakehouse.flights_by_day(table(asset))
    assert {day: flights.get(day) for day in days} == {day: lakehouse.rows_in_file(day) for day in days}, (
        asset
    )
