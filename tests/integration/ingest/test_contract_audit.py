"""A load's rows are judged by the contract before they are published."""

import dataclasses
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from daily_contract import daily_columns
from sources import D1, D2, D3, DAILY, Lake

from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.source import BronzeSource
from lakehouse.quality.check_result import CheckResult
from lakehouse.storage.merge import MergeKey


def daily(folder: Path, **checks: str) -> BronzeSource:
    return dataclasses.replace(DAILY, columns=daily_columns(folder, **checks))


def results(lake: Lake, source: BronzeSource, days: list[date]) -> dict[tuple[date, str], CheckResult]:
    report = lake.load(source, days)
    return {(day, check.check): check for day, checks in report.checks.items() for check in checks if day}


UNIQUE = "duplicate: {columns: [d, id]}"
NAMED = "missing:"

# A check, a day that passes it, a day that does not, and what is measured of that.
FAULTS = [
    pytest.param({"of_name": "missing:"}, "completeness_name", "{d},1,a\n", "{d},1,NA\n", 1, id="missing"),
    pytest.param(
        {"of_name": "missing: {threshold: {metric: percent, must_be_less_than: 40}}"},
        "completeness_name",
        "{d},1,a\n{d},2,b\n{d},3,NA\n",
        "{d},1,a\n{d},2,NA\n",
        50,
        id="missing percent",
    ),
    pytest.param(
        {"of_table": "row_count: {threshold: {must_be: 2}}"},
        "completeness_row_count",
        "{d},1,a\n{d},2,b\n",
        "{d},1,a\n",
        1,
        id="row count",
    ),
    pytest.param(
        {"of_id": "duplicate:"},
        "uniqueness_id",
        "{d},1,a\n{d},2,a\n",
        "{d},1,a\n{d},1,b\n",
        1,
        id="duplicate",
    ),
    pytest.param(
        {"of_table": "duplicate: {columns: [id, name]}"},
        "uniqueness_id_name",
        "{d},1,a\n{d},1,b\n",
        "{d},1,a\n{d},1,a\n",
        1,
        id="composite duplicate",
    ),
    pytest.param(
        {"of_id": "invalid: {valid_min: 0, valid_max: 9}"},
        "validity_id",
        "{d},9,a\n",
        "{d},10,a\n",
        1,
        id="range",
    ),
    pytest.param(
        {"of_name": "invalid: {valid_values: [a, b]}"},
        "validity_name",
        "{d},1,b\n",
        "{d},1,c\n",
        1,
        id="values",
    ),
    pytest.param(
        {"of_name": "invalid: {valid_format: {regex: '^[A-Z]{2}$', name: two capitals}}"},
        "validity_name",
        "{d},1,AB\n",
        "{d},1,A1\n",
        1,
        id="pattern",
    ),
    pytest.param(
        {"of_name": "invalid: {valid_min_length: 2}"},
        "validity_name",
        "{d},1,ab\n",
        "{d},1,a\n",
        1,
        id="length",
    ),
    pytest.param(
        {"of_table": "failed_rows: {qualifier: sane, expression: id < length(name)}"},
        "validity_sane",
        "{d},2,a\n",
        "{d},1,ab\n",
        1,
        id="cross-column rule",
    ),
    pytest.param(
        {"of_table": "failed_rows: {qualifier: q, query: select id from bronze.daily where id = 7}"},
        "validity_q",
        "{d},1,a\n",
        "{d},7,a\n",
        1,
        id="query",
    ),
    pytest.param(
        {"of_id": "aggregate: {function: avg, threshold: {must_be_less_than: 5}}"},
        "validity_id_avg",
        "{d},1,a\n{d},7,a\n",
        "{d},4,a\n{d},7,a\n",
        5.5,
        id="aggregate",
    ),
    pytest.param(
        {"of_table": "metric: {qualifier: names, expression: count(distinct name), threshold: {must_be: 2}}"},
        "validity_names",
        "{d},1,a\n{d},7,b\n",
        "{d},4,a\n{d},7,a\n",
        1,
        id="metric",
    ),
]


@pytest.mark.parametrize(("checks", "name", "good", "bad", "measured"), FAULTS)
def test_each_kind_of_check_blocks_the_bad_day_alone(
    lake: Lake, tmp_path: Path, checks: dict[str, str], name: str, good: str, bad: str, measured: float
) -> None:
    for day, lines in ((D1, good), (D2, bad), (D3, good)):
        lake.write_day(day, lines.format(d=day))

    report = lake.load(daily(tmp_path, **checks), [D1, D2, D3])

    assert list(report.failures) == [D2]
    assert name in report.failures[D2]
    assert {row[0] for row in lake.read("bronze.daily")} == {D1, D3}
    judged = {day: {check.check: check for check in checks}[name] for day, checks in report.checks.items()}
    assert [judged[day].outcome for day in (D1, D2, D3)] == ["passed", "failed", "passed"]
    assert judged[D2].measured == measured


def test_a_bad_day_leaves_what_the_table_had_of_it(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,a\n")
    source = daily(tmp_path, of_name=NAMED)
    lake.load(source, [D1])
    before = lake.catalog.load_table("bronze.daily").metadata.current_snapshot_id

    lake.write_day(D1, f"{D1},2,NA\n")
    report = lake.load(source, [D1])

    assert list(report.failures) == [D1]
    assert lake.catalog.load_table("bronze.daily").metadata.current_snapshot_id == before
    assert [row[1] for row in lake.read("bronze.daily")] == [1]


def test_a_warning_does_not_block(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,NA\n")
    checks = results(lake, daily(tmp_path, of_name="missing: {threshold: {must_be: 0, level: warn}}"), [D1])

    assert checks[D1, "completeness_name"].outcome == "warned"
    assert len(lake.read("bronze.daily")) == 1
    assert "name" in checks[D1, "completeness_name"].failing_rows


def test_a_warning_in_a_refused_day_points_to_the_refused_rows(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,NA\n{D1},1,b\n")
    warns = "missing: {threshold: {must_be: 0, level: warn}}"
    checks = results(lake, daily(tmp_path, of_name=warns, of_table=UNIQUE), [D1])

    assert checks[D1, "uniqueness_d_id"].refuses
    assert checks[D1, "completeness_name"].outcome == "warned"
    assert "from refused.bronze_daily" in checks[D1, "completeness_name"].failing_rows


def test_a_check_with_two_thresholds_warns_and_blocks(lake: Lake, tmp_path: Path) -> None:
    two = "missing: {threshold: {must_be: 0, level: warn, additional: {must_be_less_than: 2, level: fail}}}"
    source = daily(tmp_path, of_name=two)
    lake.write_day(D1, f"{D1},1,NA\n")
    lake.write_day(D2, f"{D2},1,NA\n{D2},2,NA\n")
    checks = results(lake, source, [D1, D2])

    assert checks[D1, "completeness_name"].outcome == "warned"
    assert "from bronze.daily" in checks[D1, "completeness_name"].failing_rows
    assert checks[D2, "completeness_name"].refuses
    assert {row[0] for row in lake.read("bronze.daily")} == {D1}


def test_duplicates_among_some_rows_are_found_among_those(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,a\n{D1},1,a\n{D1},2,b\n{D1},2,b\n")
    checks = results(lake, daily(tmp_path, of_id="duplicate: {filter: name = 'a'}"), [D1])

    assert [row["id"] for row in checks[D1, "uniqueness_id"].sample] == ["1", "1"]


def test_what_cannot_be_evaluated_blocks(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,a\n")
    report = lake.load(
        daily(tmp_path, of_table="failed_rows: {qualifier: q, expression: no_such_column > 1}"), [D1]
    )

    assert "validity_q could not be evaluated" in report.failures[D1]
    assert not lake.catalog.table_exists("bronze.daily")


def test_a_failing_row_is_shown_without_what_is_personal(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,Ada\n{D1},1,Ada\n")
    report = lake.load(daily(tmp_path, of_table=UNIQUE), [D1])

    [check] = [check for check in report.checks[D1] if check.check == "uniqueness_d_id"]
    assert [(row["id"], row["name"]) for row in check.sample] == [("1", "***"), ("1", "***")]
    assert "refused.bronze_daily" in check.failing_rows


def test_refused_rows_are_kept(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,a\n{D1},1,b\n")
    lake.load(daily(tmp_path, of_table=UNIQUE), [D1])

    kept = lake.settings.data_dir / "refused" / "bronze.daily" / "run_id=by-hand" / f"refused_partition={D1}"
    rows = lake.connection.execute(
        f"select id, name from '{str(kept).replace(chr(39), chr(39) * 2)}/*.parquet'"
    )
    assert sorted(rows.fetchall()) == [(1, "a"), (1, "b")]


def test_a_day_without_rows_is_judged(lake: Lake, tmp_path: Path) -> None:
    lake.write_day(D1, f"{D1},1,a\n")
    source = dataclasses.replace(daily(tmp_path), may_be_empty=False)
    gates = results(lake, source, [D1])
    assert gates[D1, "completeness_gate_row_count"].outcome == "passed"

    empty: Any = dataclasses.replace(source, extract=lambda _: iter(()))
    report = lake.load(empty, [D1])
    assert "there are no rows" in report.failures[D1]
    assert len(lake.read("bronze.daily")) == 1

    allowed = dataclasses.replace(empty, columns=daily_columns(tmp_path, may_be_empty="true"))
    assert not lake.load(allowed, [D1]).failures
    assert lake.read("bronze.daily") == []


@pytest.mark.parametrize(("rows", "published"), [(4, False), (5, True), (15, True), (16, False)])
def test_a_day_of_half_or_twice_the_usual_rows_is_blocked(
    lake: Lake, tmp_path: Path, rows: int, published: bool
) -> None:
    days = [D1 + timedelta(days=number) for number in range(9)]
    for day in days[:-1]:
        lake.write_day(day, "".join(f"{day},{number},a\n" for number in range(10)))
    lake.write_day(days[-1], "".join(f"{days[-1]},{number},a\n" for number in range(rows)))

    report = lake.load(daily(tmp_path, change="50"), days)

    assert list(report.failures) == ([] if published else days[-1:])


def test_refused_days_do_not_make_their_size_the_usual_one(lake: Lake, tmp_path: Path) -> None:
    days = [D1 + timedelta(days=number) for number in range(20)]
    sizes = [10] * 8 + [100] * 11 + [10]
    for day, size in zip(days, sizes, strict=True):
        lake.write_day(day, "".join(f"{day},{number},a\n" for number in range(size)))

    report = lake.load(daily(tmp_path, change="50"), days)

    assert list(report.failures) == days[8:19]


@pytest.mark.parametrize(("last", "outcome"), [("22:30", "passed"), ("17:30", "failed")])
def test_freshness_is_relative_to_the_partitions_end(
    lake: Lake, tmp_path: Path, last: str, outcome: str
) -> None:
    """New York's midnight; an hour before it is 04:00 of the next day in UTC."""
    lake.write_day(D1, f"{D1},1,{D1} {last}:00-05:00\n")
    source = daily(
        tmp_path,
        of_table="freshness: {column: name, column_expression: 'name::timestamptz', "
        "threshold: {unit: hour, must_be_less_than: 6}}",
    )
    assert results(lake, source, [D1])[D1, "freshness_name"].outcome == outcome


def test_rows_that_break_a_rule_are_set_aside_and_the_others_go_on(lake: Lake, tmp_path: Path) -> None:
    lines = "".join(f"{D1},{number},a\n" for number in range(1, 40))
    lake.write_day(D1, lines + f"{D1},-1,NA\n")
    rules = {
        "of_id": "invalid: {valid_min: 0, attributes: {quarantine: true}}",
        "of_name": "missing: {attributes: {quarantine: true}}",
    }
    report = lake.load(daily(tmp_path, **rules), [D1])

    assert not report.failures
    assert (report.extracted[D1], report.quarantined[D1]) == (40, 1)
    assert len(lake.read("bronze.daily")) == 39
    columns = "partition, rule, column_name, value, reason, raw, source_file, contract_version"
    [aside] = lake.read("quarantine.daily", columns)
    assert aside[:4] == (D1, "validity_id", "id", "-1")
    assert "id is -1" in aside[4] and "name is null" in aside[4]
    assert '"id":"-1"' in aside[5]
    assert aside[6].endswith(f"{D1}.csv")
    assert aside[7] == "1.2.0"
    [judged] = [check for check in report.checks[D1] if check.check == "validity_id"]
    assert (judged.outcome, judged.measured, judged.refuses) == ("failed", 1, False)

    lake.write_day(D1, lines + f"{D1},40,b\n")
    assert not lake.load(daily(tmp_path, **rules), [D1]).quarantined
    assert len(lake.read("bronze.daily")) == 40
    assert lake.read("quarantine.daily", "*") == []


@pytest.mark.parametrize("expression", ["ide < 0", "cast(name as integer) > 0"])
@pytest.mark.parametrize(
    "written",
    [
        {},
        {"partition_by": None},
        {"partition_by": None, "write_disposition": "append"},
        {"partition_by": None, "write_disposition": "merge", "key": MergeKey(("id",))},
    ],
    ids=["partitions", "replace", "append", "merge"],
)
def test_a_rule_that_cannot_be_evaluated_is_named(
    lake: Lake, tmp_path: Path, written: dict[str, Any], expression: str
) -> None:
    """Who reads it knows neither DuckDB nor where the rule came in."""
    checks = {
        "of_id": "invalid: {valid_min: 0, attributes: {quarantine: true}}",
        "of_table": "failed_rows: {qualifier: odd, attributes: {quarantine: true}, expression: "
        f"{expression}}}",
    }
    rows = [{"d": D1, "id": 1, "name": "a"}, {"d": D1, "id": -1, "name": "b"}]
    source = dataclasses.replace(daily(tmp_path, **checks), extract=lambda _: iter(rows), **written)

    with pytest.raises(LoadError) as refused:
        lake.load(source, [D1] if source.partition_by else None)

    said = str(refused.value)
    assert "bronze.daily: its rule validity_odd cannot be evaluated: " in said
    assert "`lakehouse contract verify bronze.daily`" in said
    assert "LINE 1" not in said
    assert not lake.catalog.table_exists("bronze.daily")


@pytest.mark.parametrize(("bad", "published"), [(5, True), (6, False)])
def test_too_many_bad_rows_are_not_published(lake: Lake, tmp_path: Path, bad: int, published: bool) -> None:
    lines = [f"{D1},{number},a\n" for number in range(100 - bad)] + [f"{D1},-1,a\n"] * bad
    lake.write_day(D1, "".join(lines))
    source = daily(tmp_path, of_id="invalid: {valid_min: 0, attributes: {quarantine: true}}")

    report = lake.load(source, [D1])

    assert (list(report.failures) == []) is published
    assert report.quarantined[D1] == bad


def test_a_whole_table_that_fails_is_as_it_was(lake: Lake, tmp_path: Path) -> None:
    source = dataclasses.replace(
        daily(tmp_path, of_table=UNIQUE),
        partition_by=None,
        extract=lambda _: iter([{"d": D1, "id": 1, "name": "a"}, {"d": D1, "id": 1, "name": "b"}]),
    )
    with pytest.raises(LoadError, match=r"bronze\.daily: uniqueness_d_id is 1, but must be 0") as error:
        lake.load(source)

    assert [check.check for check in error.value.checks[None] if check.refuses] == ["uniqueness_d_id"]
