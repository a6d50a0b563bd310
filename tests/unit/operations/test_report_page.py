"""The page: what it escapes and masks, and what it says when there is little to say."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from report_parts import NOW, judged, table

from lakehouse.operations.report.findings import findings
from lakehouse.operations.report.page import page, write_page
from lakehouse.operations.report.profiles import CategoryProfile, NumberProfile
from lakehouse.operations.report.quarantine import HeldRows, Reason
from lakehouse.operations.report.report import Report
from lakehouse.operations.report.scores import table_scores
from lakehouse.storage.errors import StorageError

SCRIPT = "<script>alert(1)</script>"
EMPTY = Report(
    made=NOW,
    score=None,
    tables=[],
    by_day=[],
    past=[],
    findings=[],
    overviews={},
    freshness={},
    quarantine=[],
    profiles=[],
    evaluations=0,
    trouble=[],
)
SAMPLE = f"| id | who |\n| --- | --- |\n| {SCRIPT} | ann \\| bob |\n| 2 | null |"


def test_no_value_of_data_becomes_markup() -> None:
    tables = {"silver.a": table("silver.a")}
    details = {
        "sample": SAMPLE,
        "note": SCRIPT,
        "not_published": SCRIPT,
        "failing_rows": f"```sql\n{SCRIPT}\n```",
        "threshold": SCRIPT,
        "measured": 1.0,
    }
    bad = [judged("silver.a", SCRIPT, "failed", SCRIPT, details)]
    text = page(
        replace(
            EMPTY,
            tables=table_scores(tables, bad),
            findings=findings(tables, bad),
            quarantine=[HeldRows(SCRIPT, [Reason(SCRIPT, SCRIPT, 1, 0)], [(date(2013, 1, 1), 1)], True)],
            profiles=[
                CategoryProfile(SCRIPT, SCRIPT, date(2013, 1, 1), [(SCRIPT, 1.0, None)]),
                NumberProfile(SCRIPT, SCRIPT, [(date(2013, 1, 1), 1.0, 2.0, 3.0)]),
            ],
            trouble=[SCRIPT],
        )
    )
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 10
    assert "ann | bob" in text


def test_the_page_asks_for_nothing_else() -> None:
    text = page(EMPTY)
    for word in ("src=", "href=", "url(", "@import", "http:", "https:"):
        assert word not in text
    assert "default-src 'none'" in text


def test_values_of_a_person_are_masked_by_the_contract_as_it_is_now() -> None:
    """The check may have run before the column was found to say something of a person."""
    tables = {"silver.a": table("silver.a", pii="who")}
    details = {"sample": SAMPLE, "not_published": "who is 'ann', but must be another"}
    [finding] = findings(tables, [judged("silver.a", "validity_x", "failed", None, details)])
    assert finding.sample is not None
    assert [row[1] for row in finding.sample.rows] == ["***", "null"]
    assert "ann" not in page(replace(EMPTY, findings=[finding]))


def test_errors_come_first_then_the_lower_tier_and_the_newest_partition_is_shown() -> None:
    tables = {"gold.a": table("gold.a", 1), "silver.b": table("silver.b", 2)}
    found = findings(
        tables,
        [
            judged("gold.a", "validity_w", "warned", "2013-01-01"),
            judged("silver.b", "validity_f", "failed", "2013-01-01", {"measured": 1.0}),
            judged("silver.b", "validity_f", "failed", "2013-01-03", {"measured": 3.0}),
            judged("silver.b", "validity_f", "passed", "2013-01-02"),
            judged("gold.a", "validity_f", "failed"),
        ],
    )
    assert [(one.table.name, one.outcome) for one in found] == [
        ("gold.a", "failed"),
        ("silver.b", "failed"),
        ("gold.a", "warned"),
    ]
    assert found[1].partitions == ["2013-01-01", "2013-01-03"]
    assert found[1].said["measured"] == "3"


def test_a_lakehouse_without_anything_says_so_in_every_part() -> None:
    text = page(EMPTY)
    for sentence in (
        "No partition was judged yet.",
        "Nothing was judged yet, so there is nothing to score.",
        "No check was evaluated yet.",
        "The project has no tables yet.",
        "Nothing is in quarantine.",
        "No column is profiled yet",
    ):
        assert sentence in text


def test_a_score_is_never_rounded_up() -> None:
    tables = {"silver.a": table("silver.a")}
    evaluations = [judged("silver.a", "validity_x", "passed", f"2013-01-{day:02}") for day in range(1, 29)]
    most = [*evaluations, *(judged("silver.a", f"validity_{n}") for n in range(100))]
    most.append(judged("silver.a", "validity_z", "warned"))
    [score] = table_scores(tables, most)
    assert score.score is not None
    assert 99 < score.score < 100
    assert ">99.5<" in page(replace(EMPTY, tables=[score], score=score.score))


def test_a_page_that_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.mkdir()
    with pytest.raises(StorageError, match="The report cannot be written"):
        write_page(EMPTY, file)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
