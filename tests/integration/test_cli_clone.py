"""`lakehouse clone`: a change is tried beside the live tables, and neither side sees the other."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.maintenance import find_leftovers
from lakehouse.storage.tables import TableSpec

TABLE = "silver.orders"


class Rows:
    """Rows of a query."""

    def __init__(self, settings: Settings, sql: str) -> None:
        self.connection = duckdb_session.connect(settings)
        self.sql = sql

    def query(self, _: object) -> str:
        return self.sql


def build(settings: Settings, sql: str, table: str = TABLE) -> None:
    write.replace(open_catalog(settings), TableSpec(table), Rows(settings, sql))


def cli(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def count(table: str = TABLE) -> str:
    result = cli("query", f"select count(*) from {table}", "--format", "csv")
    assert result.exit_code == 0, result.output
    return result.stdout.split()[1]


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "the user's data"))
    settings = Settings()
    build(settings, "select 1 as id from range(3)")
    return settings


@pytest.fixture
def clone(live: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A clone, in which commands work from now on."""
    result = cli("clone", str(tmp_path / "the clone"))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"1 tables are in {tmp_path / 'the clone'}")
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "the clone"))
    return Settings()


def parquet_files(settings: Settings) -> set[Path]:
    return set(settings.data_dir.rglob("*.parquet"))


def test_a_clone_begins_with_the_live_rows_and_copies_none(live: Settings, clone: Settings) -> None:
    assert count() == "3"
    assert not parquet_files(clone)
    assert cli("diff", TABLE, "--from", "live").exit_code == 0


def test_what_is_written_in_the_clone_is_seen_there_alone_columns_too(
    live: Settings, clone: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = parquet_files(live)
    build(clone, "select 1 as id, 'x' as note from range(2)")
    build(clone, "select 1 as id", "gold.fresh")
    result = cli("diff", TABLE, "--from", "live")
    assert result.exit_code == 1
    assert "added    note varchar" in result.stdout
    assert parquet_files(live) == before
    assert (count(), count("gold.fresh")) == ("2", "1")
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(live.data_dir))
    assert count() == "3"
    assert "gold.fresh" not in cli("tables").stdout
    assert [field.name for field in open_catalog(live).load_table(TABLE).schema().fields] == ["id"]


def test_what_is_written_live_is_not_seen_in_the_clone(live: Settings, clone: Settings) -> None:
    build(live, "select 1 as id from range(9)")
    assert count() == "3"


def test_the_point_it_began_at_stays_however_often_the_clone_is_written(
    live: Settings, clone: Settings
) -> None:
    for rows in range(5):
        write.replace(
            open_catalog(clone),
            TableSpec(TABLE, keep_snapshots=2),
            Rows(clone, f"select 1 as id from range({rows})"),
        )
    assert "from " in cli("diff", TABLE, "--from", "live").stdout
    assert cli("diff", TABLE, "--from", "live").exit_code == 1


def test_maintenance_of_the_clone_never_looks_at_live_files(live: Settings, clone: Settings) -> None:
    """Live files that the clone does not know would be leftovers to it."""
    build(live, "select 1 as id from range(9)")
    build(clone, "select 1 as id from range(2)")
    leftovers = find_leftovers(open_catalog(clone), TABLE, older_than_hours=-1)
    assert not [left for left in leftovers if not left.path.is_relative_to(clone.data_dir)]


def test_a_clone_can_be_cloned(clone: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(clone, "select 1 as id from range(2)")
    assert cli("clone", str(tmp_path / "another")).exit_code == 0
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "another"))
    assert count() == "2"


def test_a_folder_with_something_in_it_is_refused(live: Settings, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    result = cli("clone", str(tmp_path / "full"))
    assert result.exit_code == 1
    assert result.stderr == f"Error: {tmp_path / 'full'} is not empty: name a folder that is not there yet.\n"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]


def test_there_must_be_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))
    result = cli("clone", str(tmp_path / "clone"))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: There are no tables yet.")
    assert not (tmp_path / "clone").exists()
