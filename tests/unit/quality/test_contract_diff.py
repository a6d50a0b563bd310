"""What differs between two versions of a contract, and whether it breaks readers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contracts import COLUMNS, read, with_check, written

from lakehouse.quality.contract_diff import differences, read_version
from lakehouse.quality.errors import ContractError
from lakehouse.quality.version_step import Difference, Step, version_verdict
from lakehouse.settings import Settings

Said = dict[str, Any]
Compare = Callable[[Said, Said], list[Difference]]
PATCH, MINOR, MAJOR = Step.PATCH, Step.MINOR, Step.MAJOR


@pytest.fixture
def compare(tmp_path: Path, settings: Settings) -> Compare:
    def compared(old: Said, new: Said) -> list[Difference]:
        return differences(read(tmp_path, old, "old.yml"), read(tmp_path, new, "new.yml"), settings)

    return compared


def column(name: str = "c", **said: Any) -> Said:
    return written(columns=[*COLUMNS, {"name": name, "data_type": "integer"} | said])


OF_COLUMNS = [  # how a column was, how it is, the step, what is said
    ({}, {"data_type": "bigint"}, MINOR, "column c is bigint, was integer: every old value"),
    ({"data_type": "bigint"}, {}, MAJOR, "column c is integer, was bigint"),
    ({}, {"data_type": "double"}, MAJOR, "column c is double, was integer"),
    ({"data_type": "float"}, {"data_type": "double"}, MINOR, "every old value"),
    ({"data_type": "decimal(10, 2)"}, {"data_type": "decimal(12, 2)"}, MINOR, "every old value"),
    ({"data_type": "decimal(10, 2)"}, {"data_type": "decimal(12, 3)"}, MAJOR, "decimal(12, 3), was"),
    ({"data_type": "varchar"}, {"data_type": "text"}, MINOR, "the table's type stays string"),
    ({"data_type": "varchar"}, {"data_type": "json"}, MINOR, "the table's type stays string"),
    ({"data_type": "json"}, {"data_type": "varchar"}, MAJOR, "need no longer be JSON"),
    ({"nullable": False}, {}, MAJOR, "column c may be null now"),
    ({}, {"nullable": False}, MINOR, "column c is never null now"),
    ({}, {"optional": True}, MAJOR, "may be left out by the source now"),
    ({"optional": True}, {}, MINOR, "must be in the source now"),
    ({"pii": "personal"}, {}, MAJOR, "pii is none, was personal"),
    ({}, {"pii": "sensitive"}, MAJOR, "pii is sensitive, was none"),
    ({}, {"description": "Else."}, PATCH, "column c: the description changed"),
]


@pytest.mark.parametrize(("was", "now", "step", "says"), OF_COLUMNS)
def test_a_column_that_changed(compare: Compare, was: Said, now: Said, step: Step, says: str) -> None:
    [difference] = compare(column(**was), column(**now))

    assert difference.step is step and says in difference.text


def zoned(**said: Any) -> Said:
    return column(data_type="timestamptz", **said)


@pytest.mark.parametrize(
    ("was", "now", "step"),
    [("Europe/Rome", "UTC", MAJOR), ("Europe/Rome", None, MAJOR), (None, "UTC", MINOR)],
)
def test_another_zone_makes_other_moments(
    compare: Compare, was: str | None, now: str | None, step: Step
) -> None:
    old, new = (zoned(**{"zone": zone} if zone else {}) for zone in (was, now))

    [difference] = compare(old, new)

    assert difference.step is step and "zone is" in difference.text


def test_columns_that_come_go_and_move(compare: Compare) -> None:
    [come] = compare(written(), column())
    [gone] = compare(column(), written())
    [renamed, new] = compare(column("a"), column("b"))
    [moved] = compare(written(), written(columns=COLUMNS[::-1]))

    assert (come.step, come.text) == (MINOR, "column c added, integer")
    assert (gone.step, gone.text) == (MAJOR, "column c removed")
    assert renamed.breaking and "column a removed, or renamed to b" in renamed.text and not new.breaking
    assert moved.step is PATCH and "another order" in moved.text


OF_THE_TABLE = [
    ({}, {"timezone": "Europe/Rome"}, MAJOR, "timezone is Europe/Rome, was UTC"),
    ({}, {"schema_mode": "discard_row"}, MAJOR, "schema_mode is discard_row"),
    ({"schema_mode": "discard_row"}, {"schema_mode": "discard_value"}, MAJOR, "set aside otherwise"),
    ({"schema_mode": "discard_row"}, {"schema_mode": "freeze"}, MINOR, "schema_mode is freeze"),
    ({}, {"tier": 1}, MINOR, "tier is 1, was 2"),
    ({}, {"owner": "team:y"}, PATCH, "owner is team:y, was team:x"),
    ({}, {"description": "Rows."}, PATCH, "the table's description changed"),
]


@pytest.mark.parametrize(("was", "now", "step", "says"), OF_THE_TABLE)
def test_a_key_that_changed(compare: Compare, was: Said, now: Said, step: Step, says: str) -> None:
    [difference] = compare(written(**was), written(**now))

    assert difference.step is step and says in difference.text


OF_GATES = [  # the project's are 95, 50 and false
    ({"good_rows_percent": 99}, {"good_rows_percent": 98}, MAJOR),
    ({"good_rows_percent": 98}, {"good_rows_percent": 99}, MINOR),
    ({"row_count_change_percent": 20}, {"row_count_change_percent": 30}, MAJOR),
    ({"row_count_change_percent": 20}, {"row_count_change_percent": None}, MAJOR),
    ({"row_count_change_percent": None}, {"row_count_change_percent": 90}, MINOR),
    ({"row_count_change_percent": 20}, {"row_count_change_percent": 0}, MINOR),
    ({"may_be_empty": False}, {"may_be_empty": True}, MAJOR),
    ({"may_be_empty": True}, {"may_be_empty": False}, MINOR),
]


@pytest.mark.parametrize(("was", "now", "step"), OF_GATES)
def test_a_gate_that_changed(compare: Compare, was: Said, now: Said, step: Step) -> None:
    [difference] = compare(written(gates=was), written(gates=now))

    assert difference.step is step
    assert ("loosened" if step is MAJOR else "tightened") in difference.text


def test_a_gate_that_one_version_is_silent_of_is_the_projects(compare: Compare) -> None:
    [loosened, silent] = compare(written(gates={"good_rows_percent": 99}), written())
    [stricter, said] = compare(written(), written(gates={"good_rows_percent": 99}))
    [as_before] = compare(written(gates={"good_rows_percent": 95}), written())

    assert loosened.breaking and "it is 95.0, was 99" in loosened.text
    assert not (stricter.breaking or said.breaking or as_before.breaking)
    assert silent.text == as_before.text == "gate good_rows_percent is left to the project's settings"


def test_what_breaks_comes_first(compare: Compare) -> None:
    found = compare(column() | {"owner": "team:y"}, written(tier=1))

    assert [difference.step for difference in found] == [MAJOR, MINOR, PATCH]


def test_equal_contracts_do_not_differ(compare: Compare) -> None:
    said = with_check({"invalid": {"valid_min": 1, "threshold": {"must_be": 0}}}, "id")

    assert compare(said, said) == []


def test_contracts_of_two_tables_are_not_compared(compare: Compare) -> None:
    with pytest.raises(ContractError, match=r"old contract is of silver\.t, the new one of silver\.u"):
        compare(written(), written("silver.u"))


def test_a_type_that_no_table_has_is_said(compare: Compare) -> None:
    with pytest.raises(ContractError, match="Column c has the type 'txt'"):
        compare(column(data_type="txt"), column())


@pytest.mark.parametrize("text", ["", "- a", "owner: x", "dataset: silver/t"])
def test_a_file_without_a_contract(tmp_path: Path, text: str) -> None:
    (file := tmp_path / "new.yml").write_text(text)

    with pytest.raises(ContractError, match=r"new\.yml holds no contract"):
        read_version(file)


def test_a_version_names_its_table_itself(tmp_path: Path) -> None:
    read(tmp_path, written("gold.x"), "HEAD")

    assert read_version(tmp_path / "HEAD").table == "gold.x"


VERSIONS = [  # old, new, step, whether it suffices, what is said
    ("1.2.3", "2.0.0", MAJOR, True, "new major version: 2.0.0 or higher. It is 2.0.0."),
    ("1.2.3", "1.3.0", MAJOR, False, "but it is 1.3.0. Write 2.0.0."),
    ("0.2.3", "0.3.0", MAJOR, False, "Write 1.0.0."),
    ("1.2.3", "1.3.0", MINOR, True, "compatible"),
    ("1.2.3", "1.2.4", MINOR, False, "Write 1.3.0."),
    ("1.9.0", "1.10.0", MINOR, True, "1.10.0"),
    ("1.2.3", "2.0.0", MINOR, True, "It is 2.0.0."),
    ("1.2.3", "1.2.4", PATCH, True, "of words alone"),
    ("1.2.3", "1.2.3", PATCH, False, "Write 1.2.4."),
    ("1.2.3", "1.2.3", Step.NONE, True, "Nothing differs."),
    ("1.2.3", "1.3.0", Step.NONE, True, "Nothing differs but the version."),
    ("1.2.3", "1.2.2", Step.NONE, False, "goes back from 1.2.3 to 1.2.2"),
]


@pytest.mark.parametrize(("old", "new", "step", "suffices", "says"), VERSIONS)
def test_the_version_that_is_needed(old: str, new: str, step: Step, suffices: bool, says: str) -> None:
    found = [Difference(step, "of its own"), Difference(PATCH, "of words")] if step else []

    enough, sentence = version_verdict(old, new, found)

    assert enough is suffices and says in sentence


@pytest.mark.parametrize(
    ("was", "now", "step"), [(6, 12, MAJOR), (6, None, MAJOR), (6, 3, MINOR), (None, 6, MINOR)]
)
def test_a_later_partition_breaks_who_counts_on_it(
    compare: Compare, was: int | None, now: int | None, step: Step
) -> None:
    old, new = (
        written(freshness={"due_within_hours": hours} if hours else {"loaded_within_hours": 24})
        for hours in (was, now)
    )
    found = [each for each in compare(old, new) if "due_within_hours" in each.text]

    assert [each.step for each in found] == [step]
