"""`lakehouse new project`: a project without the demo, whose parts fit together."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lakehouse.cli import main


def new_project(folder: Path) -> str:
    result = CliRunner().invoke(main, ["new", "project", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "ours"
    assert "make test" in new_project(folder)
    return folder


def run(project: Path, *command: str) -> str:
    # First on the path: it is this project's packages that are meant, not the installed ones.
    env = {name: value for name, value in os.environ.items() if not name.startswith("LAKEHOUSE_")}
    env |= {"PYTHONPATH": str(project), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_dagster_would_load_loads(project: Path) -> None:
    run(project, sys.executable, "-m", "pytest", "tests/integration/test_project.py")


def test_its_code_is_as_its_own_lint_wants_it(project: Path) -> None:
    run(project, "ruff", "check", ".")
    run(project, "ruff", "format", "--check", ".")
    run(project, "lint-imports")


def test_a_source_can_be_added(project: Path) -> None:
    (project / "assets" / "bronze" / "orders.py").write_text(
        "from lakehouse.ingest.columns import Column\n"
        "from lakehouse.ingest.source import BronzeSource\n"
        "from lakehouse.orchestration.bronze import bronze_asset\n\n"
        "orders = bronze_asset(\n"
        '    BronzeSource("orders", (Column("id", "bigint"),), lambda _: [{"id": 1}], "a list"),\n'
        '    owners=["team:data"],\n'
        ")\n"
    )
    run(
        project, "dagster", "asset", "materialize", "-m", "lakehouse.definitions", "--select", "bronze/orders"
    )
    assert "bronze.orders" in run(project, "lakehouse", "tables")


def test_nothing_of_the_demo_is_left_in_it(project: Path) -> None:
    texts = {
        file.relative_to(project).as_posix(): file.read_text()
        for file in project.rglob("*")
        if file.is_file()
        and file.suffix in {".py", ".sql", ".yml", ".toml", ".yaml"}
        and file.relative_to(project).parts[0] not in {"lakehouse", "tests", "data"}
    }
    assert not (project / "demo").exists()
    assert [name for name, text in texts.items() if "flight" in text.lower()] == []


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    result = CliRunner().invoke(main, ["new", "project", str(tmp_path)])
    assert result.exit_code == 2
    assert "is not empty" in result.output
    assert list(tmp_path.iterdir()) == [kept]
