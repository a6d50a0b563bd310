"""A check of a contract has no key that Soda passes over; the list of them is Soda's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from contracts import read, with_check, written

from lakehouse.quality.check_keys import CHECK_KEYS, DUPLICATE_OF_TABLE
from lakehouse.quality.contract import read_contract
from lakehouse.quality.contract_checks import DIMENSIONS, REQUIRED
from lakehouse.quality.errors import ContractError
from lakehouse.quality.soda import SodaContract

LESS = {"must_be_less_than": 1}
# What a check of each type needs, the column it is of, and its other keys.
NEEDED: list[tuple[str, str | None, dict[str, Any]]] = [
    ("missing", "kind", {}),
    ("invalid", "kind", {"valid_min": 1}),
    ("duplicate", "kind", {}),
    ("duplicate", None, {"columns": ["id"]}),
    ("row_count", None, {}),
    ("aggregate", "id", {"function": "avg", "threshold": LESS}),
    ("metric", None, {"qualifier": "m", "expression": "avg(id)", "threshold": LESS}),
    ("failed_rows", None, {"qualifier": "f", "expression": "id > 1"}),
    ("freshness", None, {"column": "at", "threshold": LESS}),
]
# Soda reads them for every type that may be of values, and uses them where `CHECK_KEYS` has them.
OF_VALUES = {
    *("missing_values", "missing_format", "valid_reference_data", "invalid_values", "invalid_format"),
    *("valid_values", "valid_format", "valid_min", "valid_max"),
    *("valid_length", "valid_min_length", "valid_max_length"),
}
# What Soda's own cloud or the command line of Soda would act upon.
NOT_OURS = {"store_failed_rows", "now_variable", "keys_query", "key_column_mapping"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The keys that Soda asks checks for."""
    import soda_core  # noqa: F401  (before its parts)
    from soda_core.common.yaml import YamlObject

    keys: set[str] = set()
    for name in [name for name in dir(YamlObject) if name.startswith("read_")]:
        original = getattr(YamlObject, name)

        def reading(self: Any, key: str, *args: Any, _original: Any = original, **named: Any) -> Any:
            name = (self.yaml_dict.get("attributes") or {}).get("lakehouse_check", REQUIRED)
            if name != REQUIRED:  # the check of our own making
                keys.add(key)
            return _original(self, key, *args, **named)

        monkeypatch.setattr(YamlObject, name, reading)
    yield keys


@pytest.mark.parametrize(("kind", "column", "body"), NEEDED)
def test_the_keys_are_those_that_soda_reads(
    tmp_path: Path, asked: set[str], kind: str, column: str | None, body: dict[str, Any]
) -> None:
    SodaContract(read(tmp_path, with_check({kind: body}, column)), duckdb.connect())

    known = set(DUPLICATE_OF_TABLE if (kind, column) == ("duplicate", None) else CHECK_KEYS[kind])
    assert known <= asked
    assert asked - known <= OF_VALUES | NOT_OURS | {"filter", "column_expression"}


def test_every_type_has_keys() -> None:
    assert set(CHECK_KEYS) == set(DIMENSIONS) == {kind for kind, _, _ in NEEDED}


REFUSED: list[tuple[str | None, Any, str]] = [
    (
        "kind",
        {"missing": {"tresh": 1}},
        "the check missing of column kind: unknown key 'tresh'; known are name",
    ),
    ("kind", {"missing": {"valid_min": 1}}, "unknown key 'valid_min'"),
    ("kind", {"missing": {"threshold": {"must_bee": 0}}}, "threshold: unknown key 'must_bee'"),
    (
        "kind",
        {"missing": {"threshold": {"must_be": 0, "must_be_less_than": 3}}},
        "has must_be and must_be_less_than",
    ),
    (
        "kind",
        {"missing": {"threshold": {"must_be": 0, "level": "warning"}}},
        "level is 'warning'; known are fail",
    ),
    ("kind", {"missing": {"threshold": {"must_be": "0"}}}, "must_be is not a number"),
    ("kind", {"missing": {"threshold": {"must_be_between": {"gt": 1}}}}, "must_be_between: unknown key 'gt'"),
    ("kind", {"missing": {"threshold": {"must_be_between": [1, 2]}}}, "must_be_between is not a mapping"),
    ("kind", {"missing": {"threshold": 0}}, "threshold is not a mapping"),
    ("kind", {"missing": {"threshold": {"must_be": 0, "unit": "day"}}}, "unknown key 'unit'"),
    (
        "kind",
        {"missing": {"threshold": {"metric": "share", "must_be": 0}}},
        "metric is 'share'; known are count",
    ),
    (
        "kind",
        {"missing": {"threshold": {"must_be": 0, "additional": {"level": "warn", "metric": "count"}}}},
        "additional: unknown key 'metric'",
    ),
    (
        "kind",
        {"missing": {"threshold": {"must_be": 0, "additional": {"level": "warn"}}}},
        "it has no comparison",
    ),
    ("kind", {"invalid": {"valid_format": {"regex": "x", "nome": "y"}}}, "valid_format: unknown key 'nome'"),
    ("kind", {"invalid": {"valid_format": {"regex": "x"}}}, "valid_format: name is not a text"),
    ("kind", {"invalid": {"valid_values": "a"}}, "valid_values is not a list"),
    (
        "kind",
        {"invalid": {"valid_reference_data": {"dataset": "lakehouse/silver/u", "columns": "a"}}},
        "valid_reference_data: unknown key 'columns'",
    ),
    ("kind", {"missing": {"name": 5}}, "name is not a text"),
    (
        "kind",
        {"missing": {"attributes": {"quarantine": "yes"}}},
        "quarantine is 'yes', neither true nor false",
    ),
    ("kind", {"missing": {"attributes": "quarantine"}}, "attributes is not a mapping"),
    ("kind", {"missing": {"attributes": {"owner": "me"}}}, "unknown attribute 'owner'"),
    ("kind", {"missing": {"attributes": {"dimension": "odd"}}}, "'odd' is no dimension"),
    ("kind", {"missing": "always"}, "has 'always' below it"),
    ("kind", "missing", "is not written as `- type:`"),
    ("kind", {"mising": None}, "unknown type 'mising'"),
    ("kind", {"duplicate": {"columns": ["id"]}}, "unknown key 'columns'"),
    ("kind", {"aggregate": {"threshold": LESS}}, "has no function"),
    ("kind", {"aggregate": {"function": "avg"}}, "has no threshold"),
    ("kind", {"freshness": {"column": "at", "threshold": LESS}}, "is one of the table"),
    (None, {"freshness": {"threshold": LESS}}, "has no column"),
    (None, {"freshness": {"column": "at", "threshold": {"unit": "second", **LESS}}}, "unit is 'second'"),
    (None, {"duplicate": None}, "has no columns"),
    (None, {"duplicate": {"columns": "id"}}, "columns is not a list"),
    (None, {"missing": None}, "is one of a column"),
    (None, {"metric": {"expression": "1", "filter": "id > 1", "threshold": LESS}}, "unknown key 'filter'"),
]


@pytest.mark.parametrize(("column", "check", "fault"), REFUSED)
def test_what_would_be_passed_over_is_refused(
    tmp_path: Path, column: str | None, check: Any, fault: str
) -> None:
    with pytest.raises(ContractError) as refusal:
        read(tmp_path, with_check(check, column))

    assert fault in str(refusal.value), refusal.value


def test_all_faults_are_in_one_message(tmp_path: Path) -> None:
    said = written(
        tier=7,
        gates={"good_rows_percent": "most"},
        columns=[
            {"name": "a", "data_type": 5, "checks": [{"missing": {"x": 1, "y": 2}}]},
            {"name": "A", "data_type": "date", "nullable": None, "checks": [{"odd": None}]},
        ],
    )
    with pytest.raises(ContractError) as refusal:
        read(tmp_path, said)

    for fault in (
        "tier is 7",
        "good_rows_percent is 'most'",
        "column a: data_type is 5, not a text",
        "column A is there twice",
        "column A: nullable is None, not true or false",
        "unknown key 'x'",
        "unknown key 'y'",
        "unknown type 'odd'",
    ):
        assert fault in str(refusal.value)


def test_a_key_that_is_written_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.yml").write_text("owner: a\nchecks: []\nchecks: []\n")
    with pytest.raises(ContractError, match=r"t\.yml, line 2: this is not YAML: checks is there twice"):
        read_contract(tmp_path / "t.yml", "silver.t")


def test_what_soda_raises_is_a_sentence(tmp_path: Path) -> None:
    said = with_check({"aggregate": {"function": "nope", "threshold": LESS}}, "id")

    with pytest.raises(ContractError, match=r"silver\.t: Aggregate function 'nope' is not supported"):
        SodaContract(read(tmp_path, said), duckdb.connect())


def test_a_warning_beside_a_failing_threshold_blocks(tmp_path: Path) -> None:
    """Soda fails it at ten, whatever the first level is."""
    threshold = {**LESS, "level": "warn", "additional": {"must_be_less_than": 10, "level": "fail"}}
    [_, check] = read(tmp_path, with_check({"missing": {"threshold": threshold}}, "kind")).checks

    assert check.blocks and not check.warns
