"""`lakehouse contract verify`: a line for each contract, and a failure where one is wrong."""

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.settings import PROJECT_DIR, Settings
from lakehouse.storage import write
from lakehouse.storage.tables import TableSpec

Verify = Callable[..., Result]
AIRLINES = "select 'AA' as carrier, 'American' as name"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the contracts and models."""
    folder = tmp_path / "project"
    for part in ("checks", "dbt_project/models"):
        shutil.copytree(PROJECT_DIR / part, folder / part)
    monkeypatch.setenv("LAKEHOUSE_PROJECT_DIR", str(folder))
    return folder


@pytest.fixture
def verify(project: Path) -> Verify:
    return lambda *tables: CliRunner().invoke(main, ["contract", "verify", *tables])


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def build(table: str, sql: str) -> None:
    class Rows:
        connection = duckdb.connect()

        def query(self, _: object) -> str:
            return sql

    write.replace(open_catalog(Settings()), TableSpec(table), Rows())


def test_the_projects_own_contracts_are_right(verify: Verify) -> None:
    result = verify()

    assert result.exit_code == 0, result.output
    assert len(result.output.splitlines()) == len(list((PROJECT_DIR / "checks").rglob("*.yml")))
    assert "ok     silver.airlines" in result.output and "agrees with its model" in result.output


TEXT = "data_type: varchar"
WRONG = [  # table, what is changed in its contract, what is said
    ("silver.flights", "filter: not", "fliter: not", "unknown key 'fliter'"),
    ("silver.airlines", TEXT, "data_type: text[", "column carrier has the unknown type 'text['"),
    ("silver.airlines", TEXT, "data_type: interval", "which Iceberg cannot hold without loss"),
    ("silver.airlines", "description: Two", "description: Ten", "column carrier is described otherwise"),
    ("silver.airlines", "- name: name", "- name: nome", "the model's documentation lacks nome"),
    (
        "silver.flights",
        "columns: [time_hour, carrier,",
        "columns: [time_hour, carier,",
        "unknown column carier",
    ),
    ("silver.flights", "column: time_hour", "column: time_our", "names the unknown column time_our"),
    ("silver.flights", "column: faa}", "column: fa}", "silver.airports, which has no column fa"),
    ("silver.flights", "silver/airports", "silver/airport", "silver.airport has no contract"),
    ("silver.flights", "not is_cancelled", "not canceled", 'Referenced column "canceled" not found'),
    ("silver.flights", "valid_min: -120", "valid_min: soon", "expected one of ['Number']"),
    ("bronze.airlines", TEXT, "data_type: float", "unknown type 'float'"),
    (  # a rule that sets rows aside
        "bronze.flights",
        "valid_min: 1\n          attributes",
        "valid_min: 1\n          filter: distanze > 0\n          attributes",
        'validity_distance cannot be evaluated: Referenced column "distanze" not found',
    ),
]


@pytest.mark.parametrize(("table", "old", "new", "says"), WRONG)
def test_what_is_wrong_is_said_in_one_line(
    project: Path, verify: Verify, table: str, old: str, new: str, says: str
) -> None:
    change(project / "checks" / f"{table.replace('.', '/')}.yml", old, new)

    result = verify(table)

    assert result.exit_code == 1
    [line] = result.output.splitlines()
    assert line.startswith(f"wrong  {table} ") and says in line, line


def test_a_model_without_contract_and_a_contract_without_model(project: Path, verify: Verify) -> None:
    (project / "checks/silver/planes.yml").unlink()
    (project / "dbt_project/models/silver/weather.sql").unlink()
    (project / "checks/silver/late.yaml").write_text("{}")

    result = verify()

    assert result.exit_code == 1
    assert "silver.planes has no contract" in result.output
    assert "dbt has no model of it" in result.output
    assert "late.yaml is read by nothing" in result.output


def test_a_table_that_agrees(verify: Verify) -> None:
    build("silver.airlines", f"{AIRLINES}, 1 as beside")

    result = verify("silver.airlines")

    assert result.exit_code == 0, result.output
    assert "agrees with its model and its table; the table has beside, undeclared" in result.output


def test_a_table_with_other_columns(verify: Verify) -> None:
    build("silver.airlines", "select 1 as carrier")

    result = verify("silver.airlines")

    assert result.exit_code == 1
    assert "column carrier is int in the table, declared string" in result.output
    assert "the table lacks the column name" in result.output


def test_bronze_tables_have_load_columns(verify: Verify) -> None:
    loaded = "'1' as _load_id, 'f' as _source_file, now() as _loaded_at"
    build("bronze.airlines", f"{AIRLINES}, {loaded}")

    result = verify("bronze.airlines")

    assert result.exit_code == 0, result.output
    assert "agrees with its table" in result.output and "undeclared" not in result.output


@pytest.mark.parametrize("name", ["silver.nope", "nope", "silver.../secret"])
def test_an_unknown_table_is_wrong(verify: Verify, name: str) -> None:
    result = verify(name)

    assert result.exit_code == 1
    assert "has no contract" in result.output or "is no table of Bronze, Silver or Gold" in result.output
