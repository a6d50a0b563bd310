"""Whether a check that changed still promises what it did."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contracts import COLUMNS, read, with_check, written

from lakehouse.quality.contract_diff import differences
from lakehouse.quality.version_step import Difference, Step
from lakehouse.settings import Settings

Said = dict[str, Any]
Compare = Callable[[Said, Said], list[Difference]]
PATCH, MINOR, MAJOR = Step.PATCH, Step.MINOR, Step.MAJOR
WARN = {"must_be": 0, "level": "warn"}
ASIDE = {"quarantine": True}
MANY = {"threshold": {"must_be_greater_than": 5}}


@pytest.fixture
def compare(tmp_path: Path, settings: Settings) -> Compare:
    def compared(old: Said, new: Said) -> list[Difference]:
        return differences(read(tmp_path, old, "old.yml"), read(tmp_path, new, "new.yml"), settings)

    return compared


def of_column(kind: str, body: Said) -> Said:
    return with_check({kind: body}, "kind")


def of_table(kind: str, body: Said) -> Said:
    return with_check({kind: {"qualifier": "q"} | body})


def less(number: float, **said: Any) -> Said:
    return {"threshold": {"must_be_less_than": number, **said}}


OTHERWISE = [  # a check, what it said, what it says, the step
    # limits and lists of values
    (of_column, "invalid", {"valid_min": 1}, {"valid_min": 2}, MINOR),
    (of_column, "invalid", {"valid_min": 2}, {"valid_min": 1}, MAJOR),
    (of_column, "invalid", {"valid_max": 1}, {"valid_max": 2}, MAJOR),
    (of_column, "invalid", {"valid_max": 2}, {"valid_max": 1}, MINOR),
    (of_column, "invalid", {"valid_min": 1, "valid_max": 2}, {"valid_min": 1}, MAJOR),
    (of_column, "invalid", {"valid_min": 1}, {"valid_min": 1, "valid_max": 2}, MINOR),
    (of_column, "invalid", {"valid_max_length": 2}, {"valid_max_length": 3}, MAJOR),
    (of_column, "invalid", {"valid_min_length": 2}, {"valid_min_length": 3}, MINOR),
    (of_column, "invalid", {"valid_length": 2}, {"valid_length": 3}, MAJOR),
    (of_column, "invalid", {"valid_values": ["a", "b"]}, {"valid_values": ["a"]}, MINOR),
    (of_column, "invalid", {"valid_values": ["a"]}, {"valid_values": ["a", "b"]}, MAJOR),
    (of_column, "invalid", {"invalid_values": ["a"]}, {"invalid_values": ["a", "b"]}, MINOR),
    (of_column, "invalid", {"invalid_values": ["a", "b"]}, {"invalid_values": ["a"]}, MAJOR),
    (of_column, "invalid", {"invalid_values": ["a"]}, {"invalid_values": ["b"]}, MAJOR),
    (of_column, "missing", {"missing_values": ["-"]}, {"missing_values": ["-", "?"]}, MINOR),
    (of_column, "missing", {"missing_values": ["-"]}, {}, MAJOR),
    # what is missing is not invalid
    (of_column, "invalid", {"valid_min": 1}, {"valid_min": 1, "missing_values": [0]}, MAJOR),
    (of_column, "invalid", {"valid_min": 1, "missing_values": [0]}, {"valid_min": 1}, MINOR),
    # which rows are looked at
    (of_column, "missing", {}, {"filter": "id > 1"}, MAJOR),
    (of_column, "missing", {"filter": "id > 1"}, {}, MINOR),
    (of_column, "missing", {"filter": "id > 1"}, {"filter": "id > 0"}, MAJOR),
    (of_table, "row_count", {"filter": "id > 1"}, {}, MAJOR),
    # of a percentage both numbers change
    (
        of_column,
        "missing",
        less(5, metric="percent") | {"filter": "id > 1"},
        less(5, metric="percent"),
        MAJOR,
    ),
    # where bad rows are wanted
    (of_column, "invalid", MANY | {"valid_min": 1}, MANY | {"valid_min": 2}, MAJOR),
    # what nobody can compare
    (of_table, "failed_rows", {"expression": "id > 1"}, {"expression": "id > 2"}, MAJOR),
    (of_table, "metric", less(5) | {"expression": "avg(id)"}, less(5) | {"expression": "max(id)"}, MAJOR),
    (of_column, "missing", {}, {"column_expression": "trim(kind)"}, MAJOR),
    # thresholds
    (of_column, "missing", less(5), less(4), MINOR),
    (of_column, "missing", less(4), less(5), MAJOR),
    (of_column, "missing", {}, less(5), MAJOR),
    (of_column, "missing", less(5), {}, MINOR),
    (of_column, "missing", less(5), {"threshold": {"must_be_less_than_or_equal": 5}}, MAJOR),
    (of_column, "missing", {"threshold": {"must_be_less_than_or_equal": 5}}, less(5), MINOR),
    (of_column, "missing", less(5), less(5, metric="percent"), MAJOR),
    (of_column, "missing", {}, {"threshold": {"must_be": 0, "metric": "percent"}}, MINOR),
    (of_column, "missing", less(5), {"threshold": {"must_not_be": 6}}, MAJOR),
    (of_table, "row_count", {}, {"threshold": {"must_be_greater_than": 5}}, MINOR),
    (of_table, "row_count", {"threshold": {"must_be_greater_than_or_equal": 5}}, {}, MAJOR),
    (
        of_table,
        "row_count",
        {"threshold": {"must_be_between": {"greater_than": 1, "less_than": 9}}},
        {"threshold": {"must_be_between": {"greater_than": 1, "less_than_or_equal": 9}}},
        MAJOR,
    ),
    (of_table, "freshness", {"column": "at"} | less(24), {"column": "at"} | less(1, unit="day"), MINOR),
    (of_table, "freshness", {"column": "at"} | less(24), {"column": "at"} | less(2, unit="day"), MAJOR),
    # what a failure leads to
    (of_column, "missing", {}, {"attributes": ASIDE}, MAJOR),
    (of_column, "missing", {"attributes": ASIDE}, {}, MINOR),
    (of_column, "missing", {}, {"threshold": WARN}, MAJOR),
    (of_column, "missing", {"attributes": ASIDE}, {"threshold": WARN}, MAJOR),
    (of_column, "missing", {"threshold": WARN}, {"attributes": ASIDE}, MINOR),
    (of_column, "missing", {"threshold": WARN}, {}, MINOR),
    (of_column, "missing", less(9), less(2, level="warn", additional={"must_be_less_than": 9}), MINOR),
    (of_column, "missing", less(9), less(2, level="warn", additional={"must_be_less_than": 10}), MAJOR),
    # a warning promises nothing
    (of_column, "invalid", {"valid_min": 2, "threshold": WARN}, {"valid_min": 1, "threshold": WARN}, MINOR),
    # words
    (of_column, "missing", {"name": "a"}, {"name": "b"}, PATCH),
    # another name
    (of_column, "missing", {}, {"qualifier": "kind"}, MINOR),
    (of_column, "missing", {}, {"attributes": {"dimension": "validity"}}, MINOR),
]


@pytest.mark.parametrize(("of", "kind", "was", "now", "step"), OTHERWISE)
def test_a_check_that_changed(
    compare: Compare, of: Callable[[str, Said], Said], kind: str, was: Said, now: Said, step: Step
) -> None:
    [difference] = compare(of(kind, was), of(kind, now))

    assert difference.step is step, difference.text
    assert difference.text.startswith("check ")


def test_checks_that_come_and_go(compare: Compare) -> None:
    blocks, warns = of_column("missing", {}), of_column("missing", {"threshold": WARN})

    [added] = compare(written(), blocks)
    [removed] = compare(blocks, written())
    [silent] = compare(warns, written())

    assert added.step is MINOR and "check completeness_kind added" in added.text
    assert removed.step is MAJOR and "check completeness_kind removed" in removed.text
    assert silent.step is MINOR and "only warned" in silent.text


def test_of_a_removed_column_the_checks_are_not_named_too(compare: Compare) -> None:
    [gone] = compare(of_column("missing", {}), written(columns=[COLUMNS[0], COLUMNS[2]]))

    assert gone.text == "column kind removed"


def required(*checks: Said) -> Said:
    return written(columns=[COLUMNS[0] | ({"checks": list(checks)} if checks else {}), *COLUMNS[1:]])


def test_a_column_stays_never_null_only_if_what_sees_to_it_blocks(compare: Compare) -> None:
    aside, warns = {"missing": {"attributes": ASIDE}}, {"missing": {"threshold": WARN}}

    otherwise = {"missing": {"qualifier": "too", "threshold": WARN}}

    [weaker] = compare(required(), required(warns))
    weaker_too = compare(required(), required(otherwise))
    [set_aside] = compare(required(), required(aside))
    [stricter] = compare(required(aside), required())

    assert weaker.breaking and "check completeness_id loosened: warns" in weaker.text
    assert any(difference.breaking for difference in weaker_too)
    assert set_aside.breaking and not stricter.breaking
    assert compare(required(), required({"missing": None})) == []


def test_the_order_of_a_list_says_nothing(compare: Compare) -> None:
    values = [of_column("invalid", {"valid_values": said}) for said in (["a", "b"], ["b", "a"])]
    keys = [of_table("duplicate", {"columns": said}) for said in (["id", "at"], ["at", "id"])]

    assert compare(*values) == []
    [renamed] = compare(*keys)
    assert renamed.step is MINOR and "is called uniqueness_at_id_q" in renamed.text


def test_of_two_checks_alike_one_can_be_renamed_to_one(compare: Compare) -> None:
    def alike(*names: str) -> Said:
        return written(
            checks=[{"failed_rows": {"qualifier": name, "expression": "id > 1"}} for name in names]
        )

    [removed, renamed] = compare(alike("a", "b"), alike("c"))

    assert removed.breaking and "validity_b removed" in removed.text
    assert renamed.text == "check validity_a is called validity_c"
