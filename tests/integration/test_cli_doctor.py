"""`lakehouse doctor`: a line for each finding, and a failure where something is broken."""

import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.settings import PROJECT_DIR, Settings
from lakehouse.storage import write
from lakehouse.storage.tables import TableSpec

Doctor = Callable[..., Result]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return Settings()


@pytest.fixture
def doctor(settings: Settings) -> Doctor:
    """Run the command with some variables set."""

    def run(**environment: str) -> Result:
        return CliRunner().invoke(main, ["doctor"], env=environment)

    return run


@pytest.fixture
def table(settings: Settings) -> Catalog:
    """A catalog with one table."""

    class Rows:
        connection = duckdb.connect()

        def query(self, _: object) -> str:
            return "select 1 as id"

    catalog = open_catalog(settings)
    write.replace(catalog, TableSpec("silver.t"), Rows())
    return catalog


def test_a_fresh_clone_is_not_broken_and_is_told_what_comes_next(settings: Settings, doctor: Doctor) -> None:
    result = doctor()
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines].count("ok") == len(lines) - 2
    assert (
        f"warning  sources      {settings.source_dir} does not exist. Set LAKEHOUSE_SOURCE_DIR"
        in result.output
    )
    assert "Materialize an asset in the UI" in lines[-1]
    assert not settings.data_dir.exists() or not settings.catalog_file.exists()


def test_a_table_in_order(table: Catalog, doctor: Doctor) -> None:
    assert "ok       tables       1 in" in doctor().output


def test_a_lost_data_file_is_broken_and_named(table: Catalog, settings: Settings, doctor: Doctor) -> None:
    [file] = (settings.warehouse_dir / "silver" / "t" / "data").rglob("*.parquet")
    file.unlink()
    result = doctor()
    assert result.exit_code == 1
    assert "broken   tables       silver.t: 1 of 1 data files are gone" in result.output
    assert str(file) in result.output


def test_lost_metadata_is_broken_and_named(table: Catalog, settings: Settings, doctor: Doctor) -> None:
    shutil.rmtree(settings.warehouse_dir / "silver" / "t" / "metadata")
    result = doctor()
    assert result.exit_code == 1
    assert "broken   tables       silver.t: " in result.output


def test_a_contract_that_cannot_be_read_is_named(tmp_path: Path, doctor: Doctor) -> None:
    project = tmp_path / "project"
    for part in ("checks", "dbt_project/models", "dbt_project/dbt_project.yml", "dagster.yaml"):
        source, target = PROJECT_DIR / part, project / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    (project / "checks" / "bronze" / "new.yml").write_text(
        "dataset: lakehouse/bronze/new\nversion: '1.0.0'\nowner: me\ntier: 3\n"
        "columns:\n- {name: a, data_type: number}\n"
    )
    (project / "checks" / "bronze" / "other.yml").write_text("columns: [\n")
    result = doctor(LAKEHOUSE_PROJECT_DIR=str(project))
    assert result.exit_code == 1
    assert "broken   contracts    new.yml: Column a has the unknown type 'number'" in result.output
    assert "this is not YAML" in result.output


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({"LAKEHOUSE_DUCKDB_MEMORY": "much"}, "LAKEHOUSE_DUCKDB_MEMORY: an amount of memory is 600MB"),
        ({"DAGSTER_HOME": "/nowhere"}, "broken   dagster      There is no dagster.yaml in /nowhere"),
        (
            {"LAKEHOUSE_DATA_DIR": "/etc/hostname/data"},
            "broken   data folder  /etc/hostname cannot be written",
        ),
        (
            {"LAKEHOUSE_PROJECT_DIR": "/nowhere"},
            "broken   dbt          /nowhere/dbt_project/dbt_project.yml does",
        ),
        ({"LAKEHOUSE_DUCKDB_THREADS": "none"}, "LAKEHOUSE_DUCKDB_THREADS: Input should be a valid integer"),
    ],
)
def test_what_is_set_wrong_is_said_and_fails(doctor: Doctor, environment: dict[str, str], line: str) -> None:
    result = doctor(**environment)
    assert result.exit_code == 1
    assert line in result.output
    assert "Traceback" not in result.output


def test_a_package_of_another_version_is_named(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["duckdb==1.5.4", "no-such-package>=1", "windows-only>=1; sys_platform == 'win32'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: needs)
    result = doctor()
    assert result.exit_code == 1
    assert "duckdb is 1.5.5, not ==1.5.4; no-such-package is missing. Run `make setup`." in result.output
