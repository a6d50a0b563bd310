"""The quality score, computed by hand."""

from dataclasses import replace
from datetime import date

import pytest
from report_parts import judged, table

from lakehouse.operations.report.dimensions import dimension_of
from lakehouse.operations.report.scores import overall, scores_by_day, table_scores


@pytest.mark.parametrize(
    ("check", "dimension"),
    [
        ("freshness_time_hour", "freshness"),
        ("completeness_gate_row_count", "completeness"),
        ("uniqueness_faa", "uniqueness"),
        ("validity_dest", "validity"),
        ("distribution_dep_delay", "distribution"),
        ("drift_gate_columns", "validity"),
        ("reconciliation", "completeness"),
        ("not_null_flights_carrier", "completeness"),
        ("unique_airports_faa", "uniqueness"),
        ("flights_key_is_unique", "uniqueness"),
        ("flights_leave_new_york", "validity"),
    ],
)
def test_a_check_tells_its_dimension_by_its_name(check: str, dimension: str) -> None:
    assert dimension_of(check) == dimension


def test_dimensions_count_alike_however_many_checks_they_have() -> None:
    evaluations = [
        *(judged("silver.a", f"validity_{n}") for n in range(20)),
        judged("silver.a", "freshness_due", "failed"),
    ]
    [score] = table_scores({"silver.a": table("silver.a")}, evaluations)
    assert score.score == 50  # validity 100, freshness 0
    assert (score.failed, score.warned) == (1, 0)


def test_a_warning_is_worth_half_and_a_check_the_mean_of_its_partitions() -> None:
    days = ["2013-01-01", "2013-01-02", "2013-01-03", "2013-01-04"]
    outcomes = ["passed", "passed", "warned", "failed"]
    evaluations = [
        judged("silver.a", "validity_x", outcome, day)  # type: ignore[arg-type]
        for day, outcome in zip(days, outcomes, strict=True)
    ]
    [score] = table_scores({"silver.a": table("silver.a")}, evaluations)
    assert score.score == (100 + 100 + 50 + 0) / 4
    assert score.cells["validity"].state == "failed"


def test_a_table_of_the_first_tier_counts_three_times() -> None:
    tables = {"gold.a": table("gold.a", 1), "gold.b": table("gold.b", 3)}
    scores = table_scores(tables, [judged("gold.a", "validity_x", "failed"), judged("gold.b", "validity_x")])
    assert [one.table.name for one in scores] == ["gold.a", "gold.b"]  # the worst first
    assert overall(scores) == 25


def test_what_was_not_judged_has_no_score_and_counts_for_nothing() -> None:
    tables = {"gold.a": table("gold.a"), "gold.b": table("gold.b")}
    scores = table_scores(tables, [judged("gold.b", "validity_x", "warned")])
    assert [(one.table.name, one.score) for one in scores] == [("gold.b", 50), ("gold.a", None)]
    assert overall(scores) == 50
    assert overall(table_scores(tables, [])) is None


def test_what_had_too_little_to_compare_with_is_counted_and_not_scored() -> None:
    tables = {"gold.a": table("gold.a")}
    compared = judged("gold.a", "distribution_x", partition="2013-01-31")
    too_short = replace(judged("gold.a", "distribution_x", partition="2013-01-01"), judged=False)
    [score] = table_scores(tables, [too_short])
    assert (score.score, score.cells, score.unjudged) == (None, {}, {"distribution": 1})
    [score] = table_scores(tables, [too_short, compared])
    assert (score.score, score.cells["distribution"].evaluations, score.unjudged) == (
        100,
        1,
        {"distribution": 1},
    )


def test_a_day_has_the_score_of_its_partitions_and_of_its_month() -> None:
    tables = {"silver.a": table("silver.a"), "gold.m": table("gold.m", monthly=True)}
    evaluations = [
        judged("silver.a", "validity_x", "passed", "2013-01-30"),
        judged("silver.a", "validity_x", "failed", "2013-01-31"),
        judged("silver.a", "validity_x", "passed", "2013-02-01"),
        judged("gold.m", "validity_x", "warned", "2013-01-01"),
        judged("silver.a", "freshness_due", "failed"),  # of the table as a whole: of no day
    ]
    assert scores_by_day(tables, evaluations) == [
        (date(2013, 1, 30), 75),
        (date(2013, 1, 31), 25),
        (date(2013, 2, 1), 100),
    ]


def test_months_alone_are_drawn_day_by_day() -> None:
    found = scores_by_day(
        {"gold.m": table("gold.m", monthly=True)}, [judged("gold.m", "validity_x", "warned", "2013-02-01")]
    )
    assert len(found) == 28
    assert {score for _, score in found} == {50}
