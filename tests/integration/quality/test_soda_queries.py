"""What is asked in another way than Soda asks it has Soda's answer."""

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from soda_core.common.sql_ast import AND, CASE_WHEN, COLUMN, EQ, GT, IN, IS_NULL, LITERAL, LT, NOT, OR, SUM

from lakehouse.quality import soda, soda_forms, soda_keys
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.soda import Judgement, SodaContract

COLUMNS = "a integer, b varchar"
NONE_TWICE = [(1, "x"), (1, "y"), (2, "x"), (None, "x"), (1, None), (None, None)]
SOME_TWICE = [*NONE_TWICE, (1, "x"), (1, None), (None, None), (None, None), (3, ""), (3, "N/A")]
COMPOSITE = {"duplicate": {"columns": ["a", "b"]}}
PERCENT = {"threshold": {"metric": "percent", "must_be": 0}}


def contract(
    folder: Path, *of_table: Any, of_a: tuple[Any, ...] = (), of_b: tuple[Any, ...] = ()
) -> Contract:
    said = {
        "dataset": "lakehouse/silver/t",
        "version": "1.0.0",
        "owner": "team:x",
        "tier": 3,
        "columns": [
            {"name": "a", "data_type": "integer", "checks": list(of_a)},
            {"name": "b", "data_type": "varchar", "checks": list(of_b)},
        ],
        "checks": list(of_table),
    }
    file = folder / "t.yml"
    file.write_text(yaml.safe_dump(said))
    return read_contract(file, "silver.t")


def judged(contract: Contract, rows: list[tuple[Any, ...]]) -> Judgement:
    connection = duckdb.connect()
    connection.execute(f"create schema silver; create table silver.t ({COLUMNS})")
    if rows:
        connection.executemany("insert into silver.t values (?, ?)", rows)
    [judgement] = SodaContract(contract, connection).judge(datetime.now(UTC)).values()
    return judgement


def judged_both_ways(
    said: Contract, rows: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> tuple[Judgement, Judgement]:
    """In the forms that are fast, and in Soda's own."""
    ours = judged(said, rows)
    monkeypatch.setattr(soda, "asked_as_duckdb_is_fast", lambda *_: nullcontext())
    return ours, judged(said, rows)


DUPLICATES = [
    pytest.param((COMPOSITE,), (), id="composite"),
    pytest.param(({"duplicate": {**COMPOSITE["duplicate"], "filter": "a = 1"}},), (), id="of some rows"),
    pytest.param(({"duplicate": {**COMPOSITE["duplicate"], **PERCENT}},), (), id="percent"),
    pytest.param((), ({"duplicate": None},), id="single"),
    pytest.param((), ({"duplicate": {"filter": "b is not null"}},), id="single of some rows"),
    pytest.param((), ({"duplicate": {"missing_values": ["", "N/A"]}},), id="missing values"),
    pytest.param((), ({"duplicate": {"column_expression": "upper(b)"}},), id="expression"),
]


@pytest.mark.parametrize("rows", [NONE_TWICE, SOME_TWICE, []], ids=["none twice", "some twice", "no rows"])
@pytest.mark.parametrize(("of_table", "of_b"), DUPLICATES)
@pytest.mark.parametrize(("few", "at_once"), [(0, 1), (0, 1000), (1000, 1000)])
def test_duplicates_are_as_many_as_soda_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[Any, ...]],
    of_table: tuple[Any, ...],
    of_b: tuple[Any, ...],
    few: int,
    at_once: int,
) -> None:
    said = contract(tmp_path, *of_table, of_b=of_b)
    monkeypatch.setattr(soda_keys, "FEW_ROWS", few)
    monkeypatch.setattr(soda_keys, "HASHES_AT_ONCE", at_once)
    ours = judged(said, rows)
    monkeypatch.setattr(soda, "take_out_keys", lambda _: [])

    assert ours == judged(said, rows)
    assert ours.outcome in ("passed", "failed")


def test_soda_counts_no_keys_itself(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute(f"create schema silver; create table silver.t ({COLUMNS})")
    judge = SodaContract(contract(tmp_path, COMPOSITE, of_b=({"duplicate": None},)), connection)

    assert not [query.sql for query in judge._soda.queries if "DISTINCT" in query.build_sql().upper()]


def test_values_that_only_look_the_same_when_joined_are_two_keys(tmp_path: Path) -> None:
    """Of Soda's own text of a composite key they are one."""
    connection = duckdb.connect()
    connection.execute("create schema silver; create table silver.t (a varchar, b varchar)")
    connection.execute("insert into silver.t values ('x||y', 'z'), ('x', 'y||z')")
    [judgement] = SodaContract(contract(tmp_path, COMPOSITE), connection).judge(datetime.now(UTC)).values()

    assert judgement.outcome == "passed"


@pytest.mark.parametrize(
    "regex", ["^x", "y$", "x|y", "^x$|^y$", "(?i)X", "^$", "x.y", "[xy]{2}", "it's", r"\d", ""]
)
def test_a_pattern_finds_what_soda_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regex: str) -> None:
    values = ["x", "y", "xy", "yx", "x\ny", "x\n", "\nx", "", "X", "it's", "7", "é", None]
    check = {"invalid": {"valid_format": {"regex": regex, "name": "a pattern"}}}
    said, rows = contract(tmp_path, of_b=(check,)), [(1, value) for value in values]
    ours = judged(said, rows)
    monkeypatch.setattr(soda_forms, "_anywhere", lambda value, regex: f"REGEXP_MATCHES({value}, {regex})")

    assert ours == judged(said, rows)


@pytest.mark.parametrize("rows", [NONE_TWICE, SOME_TWICE, []], ids=["none twice", "some twice", "no rows"])
@pytest.mark.parametrize(
    "check",
    [
        {"missing": None},
        {"missing": {"filter": "a = 1"}},
        {"missing": {"threshold": {"metric": "percent", "must_be": 0}}},
        {"missing": {"missing_values": ["", "N/A"]}},
        {"invalid": {"valid_values": ["x", "it's", "X "]}},
        {"invalid": {"invalid_values": ["x", ""]}},
        {"invalid": {"valid_values": ["x", "y"], "missing_values": ["N/A"]}},
        {"invalid": {"valid_values": ["1"], "column_expression": "cast(a as varchar)"}},
        {"invalid": {"valid_values": [1], "column_expression": "a"}},
        {"invalid": {"valid_min": 2, "valid_max": 2, "column_expression": "a"}},
        {"invalid": {"valid_values": []}},
        {"invalid": {"invalid_values": []}},
        {"invalid": {"valid_length": 1, "filter": "a = 1"}},
        {"invalid": {"valid_min_length": 1, "valid_max_length": 2, "invalid_values": ["y"]}},
        {"invalid": {"valid_format": {"regex": "^x", "name": "x"}, "missing_values": [""]}},
        {"aggregate": {"function": "max_length", "threshold": {"must_be_less_than": 2}}},
        {"aggregate": {"function": "min_length", "missing_values": [""], "threshold": {"must_be": 1}}},
    ],
)
def test_what_is_null_or_invalid_is_as_much_as_soda_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[Any, ...]], check: dict[str, Any]
) -> None:
    ours, sodas = judged_both_ways(contract(tmp_path, of_b=(check,)), rows, monkeypatch)

    assert ours == sodas
    assert ours.outcome in ("passed", "failed", "not_evaluated")


@pytest.mark.parametrize("rows", [NONE_TWICE, SOME_TWICE, []], ids=["none twice", "some twice", "no rows"])
@pytest.mark.parametrize(
    "check",
    [
        {"invalid": {"valid_min": 2}},
        {"invalid": {"valid_min": 0, "valid_max": 1}},
        {"invalid": {"valid_values": [1, 2]}},
        {"invalid": {"invalid_values": [3], "valid_max": 2}},
        {"invalid": {"valid_max": 1, "missing_values": [3]}},
        {"invalid": {"valid_max": 1, "filter": "b is null"}},
        {"aggregate": {"function": "avg", "threshold": {"must_be_less_than": 2}}},
        {"aggregate": {"function": "sum", "filter": "b = 'x'", "threshold": {"must_be": 3}}},
        {"aggregate": {"function": "max", "missing_values": [3], "threshold": {"must_be": 2}}},
    ],
)
def test_what_is_said_of_numbers_is_what_soda_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[Any, ...]], check: dict[str, Any]
) -> None:
    ours, sodas = judged_both_ways(contract(tmp_path, of_a=(check,)), rows, monkeypatch)

    assert ours == sodas


def test_a_null_that_is_asked_for_is_not_left_out(tmp_path: Path) -> None:
    """`not (a is null)` goes only where what is left is null of a null."""
    connection = duckdb.connect()
    judge = SodaContract(contract(tmp_path), connection)
    dialect = judge._soda.data_source_impl.sql_dialect
    a, one = COLUMN("a"), LITERAL(1)
    there = NOT(IS_NULL(a))
    always, low = EQ(LITERAL(1), LITERAL(1)), LT(a, one)
    with soda_forms.asked_as_duckdb_is_fast(dialect, ["b"]):
        asked = [
            dialect.build_expression_sql(SUM(CASE_WHEN(AND([there, other]), one)))
            for other in (low, OR([low, GT(a, one)]), always, OR([low, always]), LT(COLUMN("b"), one))
        ]

    assert asked == [
        'count_if("a" < 1)',
        'count_if(("a" < 1 OR "a" > 1))',
        'count_if(NOT("a" IS NULL) AND 1 = 1)',
        'count_if(NOT("a" IS NULL) AND ("a" < 1 OR 1 = 1))',
        'count_if(NOT("a" IS NULL) AND "b" < 1)',
    ]


def test_numbers_among_texts_are_not_compared_as_texts(tmp_path: Path) -> None:
    """A column that is no text is asked as Soda asks: '1' is the number 1 then."""
    said = contract(tmp_path, of_b=())
    [a, b] = said.columns
    assert (a.type, b.type) == ("integer", "varchar")
    connection = duckdb.connect()
    judge = SodaContract(said, connection)
    with soda_forms.asked_as_duckdb_is_fast(judge._soda.data_source_impl.sql_dialect, ["b"]):
        dialect = judge._soda.data_source_impl.sql_dialect
        asked = [dialect.build_expression_sql(IN(COLUMN(name), [LITERAL("1")])) for name in ("a", "b")]

    assert asked == ["\"a\" IN ('1')", "contains(['1'], \"b\")"]


def test_people_read_the_pattern_as_it_is_written(tmp_path: Path) -> None:
    said = contract(tmp_path, of_b=({"invalid": {"valid_format": {"regex": "^x", "name": "x"}}},))
    connection = duckdb.connect()
    connection.execute(f"create schema silver; create table silver.t ({COLUMNS})")
    judge = SodaContract(said, connection)
    judge.judge(datetime.now(UTC))

    assert "REGEXP_MATCHES(\"b\", '^x')" in str(judge.failing_rows(said.checks[0]))


def test_a_null_among_what_is_referred_to_hides_no_failing_row(tmp_path: Path) -> None:
    check = {"invalid": {"valid_reference_data": {"dataset": "lakehouse/silver/known", "column": "code"}}}
    said = contract(tmp_path, of_b=(check,))
    connection = duckdb.connect()
    connection.execute(f"create schema silver; create table silver.t ({COLUMNS})")
    connection.execute("create table silver.known as select unnest(['x', null]) as code")
    connection.execute("insert into silver.t values (1, 'x'), (2, 'z'), (3, null)")
    judge = SodaContract(said, connection)
    [judgement] = judge.judge(datetime.now(UTC)).values()
    failing = connection.sql(f"select a from silver.t where {judge.failing_rows(said.checks[0])}").fetchall()

    assert (judgement.measured, failing) == (1, [(2,)])


def test_a_key_that_there_is_not_is_not_evaluated_and_hides_nothing(tmp_path: Path) -> None:
    said = contract(tmp_path, {"duplicate": {"columns": ["a", "no_such"]}}, {"row_count": None})
    connection = duckdb.connect()
    connection.execute("create schema silver; create table silver.t as select 1 as a, 'x' as b")
    judge = SodaContract(said, connection)
    outcomes = {name: judgement.outcome for name, judgement in judge.judge(datetime.now(UTC)).items()}

    assert outcomes == {"uniqueness_a_no_such": "not_evaluated", "completeness_row_count": "passed"}
    assert any("no_such" in fault for fault in judge.rehearse())


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        ({"failed_rows": {"qualifier": "broken", "expression": "no_such > 1"}}, "validity_broken"),
        ({"failed_rows": {"qualifier": "broken", "expression": "cast(b as integer) > 1"}}, "validity_broken"),
        ({"failed_rows": {"qualifier": "broken", "expression": "a >"}}, "validity_broken"),
        (
            {"metric": {"qualifier": "broken", "expression": "sum(b)", "threshold": {"must_be": 1}}},
            "validity_broken",
        ),
        (
            {"failed_rows": {"qualifier": "broken", "query": "select no_such from silver.t"}},
            "validity_broken",
        ),
    ],
)
def test_a_check_that_cannot_be_evaluated_hides_no_other(tmp_path: Path, broken: Any, name: str) -> None:
    """Soda computes them together, so that one would take the others with it."""
    of_b = ({"missing": None}, {"invalid": {"valid_values": ["x"]}})
    good = {"failed_rows": {"qualifier": "good", "expression": "a > 1"}}
    said = contract(tmp_path, {"row_count": None}, broken, good, COMPOSITE, of_b=of_b)
    connection = duckdb.connect()
    connection.execute(
        "create schema silver; create table silver.t as from (values (1, 'x'), (2, 'y')) t(a, b)"
    )
    judge = SodaContract(said, connection)
    judged = judge.judge(datetime.now(UTC))

    assert {check: found.outcome for check, found in judged.items()} == {
        "completeness_row_count": "passed",
        name: "not_evaluated",
        "validity_good": "failed",
        "uniqueness_a_b": "passed",
        "completeness_b": "passed",
        "validity_b": "failed",
    }
    assert judge.rehearse()
