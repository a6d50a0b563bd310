"""`lakehouse doctor`: what is installed, configured and reachable, and what to do about what is not.

Each examination looks at one thing and changes no table.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lakehouse.settings import PROJECT_DIR

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings

LITTLE_SPACE = 2 * 2**30  # bytes; DuckDB spills, and a write keeps what it replaces until it is maintained
SHOWN = 3  # of many things that are wrong in one way
REINSTALL = "Run `make setup`."


@dataclass(frozen=True)
class Finding:
    """What an examination found.

    Args:
        state: `broken` is what keeps the lakehouse from working.
        remedy: what to do; nothing where all is well.
    """

    state: Literal["ok", "warning", "broken"]
    subject: str
    text: str
    remedy: str = ""

    def line(self) -> str:
        """The finding as one line."""
        return f"{self.state:<8} {self.subject:<12} {' '.join(f'{self.text}. {self.remedy}'.split())}"


def examine(settings: "Settings") -> Iterator[Finding]:
    """Every finding; an examination that fails is one too."""
    examinations: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        packages,
        duckdb,
        dbt,
        dagster,
        data_folder,
        sources,
        contracts,
        alerts,
        tables,
    )
    for examination in examinations:
        try:
            yield from examination(settings)
        except Exception as error:  # whatever it is, the other examinations say more
            subject = examination.__name__.replace("_", " ")
            yield Finding("broken", subject, f"{type(error).__name__}: {error}".splitlines()[0])


def packages(_: "Settings") -> Iterator[Finding]:
    """Whether what pyproject.toml asks for is installed."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from packaging.requirements import Requirement

    wrong, declared = [], [Requirement(line) for line in requires("lakehouse") or []]
    for requirement in declared:
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(installed, prereleases=True):
            wrong.append(f"{requirement.name} is {installed}, not {requirement.specifier}")
    python = ".".join(map(str, sys.version_info[:3]))
    if wrong:
        yield Finding("broken", "packages", _some(wrong), REINSTALL)
    else:
        yield Finding("ok", "packages", f"{len(declared)} as declared, Python {python}")


def duckdb(settings: "Settings") -> Iterator[Finding]:
    """Whether DuckDB opens with the settings and its extensions."""
    import duckdb as engine

    from lakehouse.storage import duckdb_session

    try:
        duckdb_session.connect(settings).close()
    except FileNotFoundError as error:
        yield Finding("broken", "duckdb", str(error))
    except engine.Error as error:
        yield Finding("broken", "duckdb", str(error).splitlines()[0], "Look at LAKEHOUSE_DUCKDB_MEMORY.")
    else:
        extensions = " and ".join(duckdb_session.EXTENSIONS)
        limits = f"{settings.duckdb_memory} of memory and {settings.duckdb_threads} threads a connection"
        yield Finding("ok", "duckdb", f"{engine.__version__} with {extensions}, {limits}")


def dbt(settings: "Settings") -> Iterator[Finding]:
    """Whether dbt can be started on the project."""
    project = settings.dbt_dir / "dbt_project.yml"
    command = Path(sys.executable).with_name("dbt")
    if not project.exists():
        yield Finding("broken", "dbt", f"{project} does not exist", "Look at LAKEHOUSE_PROJECT_DIR.")
    elif not command.exists() and shutil.which("dbt") is None:
        yield Finding("broken", "dbt", f"There is no {command} and no dbt on the PATH", REINSTALL)
    else:
        models = len(list((settings.dbt_dir / "models").rglob("*.sql")))
        yield Finding("ok", "dbt", f"{models} models in {settings.dbt_dir}")


def dagster(settings: "Settings") -> Iterator[Finding]:
    """Whether Dagster keeps what it ran."""
    home = os.environ.get("DAGSTER_HOME")
    folder = Path(home) if home else settings.project_dir.resolve()
    if (folder / "dagster.yaml").exists():
        unset = "" if home else "; DAGSTER_HOME is not set here, `make dev` sets it"
        yield Finding("ok", "dagster", f"dagster.yaml in {folder}{unset}")
    else:
        yield Finding(
            "broken",
            "dagster",
            f"There is no dagster.yaml in {folder}, without which Dagster forgets or misplaces its runs",
            f"Set DAGSTER_HOME to {PROJECT_DIR}, or copy dagster.yaml from there.",
        )


def data_folder(settings: "Settings") -> Iterator[Finding]:
    """Whether the data folder can be written, and has space."""
    folder = settings.data_dir.resolve()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        yield Finding(
            "broken",
            "data folder",
            f"{there} cannot be written",
            "Mend its rights, or set LAKEHOUSE_DATA_DIR.",
        )
        return
    free = shutil.disk_usage(there).free
    text = f"{folder}, {free / 2**30:,.1f} GB free"
    if free < LITTLE_SPACE:
        yield Finding("warning", "data folder", text, "Make room: `lakehouse maintain` removes old files.")
    else:
        yield Finding("ok", "data folder", text)


def sources(settings: "Settings") -> Iterator[Finding]:
    """Whether there is anything that file sources could read."""
    folder = settings.source_dir
    if folder.is_dir():
        yield Finding("ok", "sources", f"{len(list(folder.iterdir()))} files and folders in {folder}")
    else:
        yield Finding(
            "warning",
            "sources",
            f"{folder} does not exist",
            "Set LAKEHOUSE_SOURCE_DIR, or put files there; a demo writes its own.",
        )


def contracts(settings: "Settings") -> Iterator[Finding]:
    """Whether every contract is one, and of Bronze declares columns that can be loaded."""
    from lakehouse.ingest.columns import read_columns
    from lakehouse.quality.contract import read_contract

    files, wrong = sorted(settings.contracts_dir.glob("*/*.yml")), []
    for file in files:
        try:
            layer = file.parent.name
            read_columns(file) if layer == "bronze" else read_contract(file, f"{layer}.{file.stem}")
        except Exception as error:  # a parser's, a missing key's, or our own
            wrong.append(f"{file.name}: {' '.join(str(error).split())}")
    if wrong:
        yield Finding("broken", "contracts", _some(wrong), f"Mend them in {settings.contracts_dir}.")
    else:
        yield Finding("ok", "contracts", f"{len(files)}, each readable")


def alerts(settings: "Settings") -> Iterator[Finding]:
    """Whether alerts have a target, and apprise knows each; none is sent."""
    from lakehouse.alerts.targets import send, targets_of

    targets = targets_of(settings.alert_urls)
    answers = send(targets, None, settings.alert_timeout_seconds)
    if wrong := [f"{answer.target.name}: {answer.refusal}" for answer in answers if answer.refusal]:
        yield Finding("broken", "alerts", _some(wrong), "Mend LAKEHOUSE_ALERT_URLS.")
    elif targets:
        names = ", ".join(target.name for target in targets)
        yield Finding("ok", "alerts", f"{names}; `lakehouse alert test` sends one")
    else:
        yield Finding("ok", "alerts", "only in the log, for LAKEHOUSE_ALERT_URLS is not set")


def tables(settings: "Settings") -> Iterator[Finding]:
    """Whether the catalog answers and every table's files can be found."""
    from lakehouse.catalog import open_catalog
    from lakehouse.storage.scan import list_tables

    if not settings.catalog_file.exists():  # opening would make it
        yield Finding(
            "warning",
            "tables",
            f"There is no catalog {settings.catalog_file} yet",
            "Materialize an asset in the UI (`make dev`).",
        )
        return
    catalog = open_catalog(settings)
    names = list_tables(catalog)
    wrong = [f"{name}: {reason}" for name in names if (reason := _unreadable(catalog, name))]
    if wrong:
        yield Finding(
            "broken", "tables", _some(wrong), "Restore the files, or drop the table and load it anew."
        )
    else:
        yield Finding("ok", "tables", f"{len(names)} in {settings.catalog_file}, their files in place")


def _unreadable(catalog: "Catalog", name: str) -> str | None:
    """Why a table cannot be read, None if its metadata and all current data files are there."""
    try:
        table = catalog.load_table(name)
        files = [task.file.file_path for task in table.scan().plan_files()]
    except Exception as error:  # a storage's, a parser's or the catalog's
        return " ".join(str(error).split())
    lost = [file for file in files if not table.io.new_input(file).exists()]
    return f"{len(lost)} of {len(files)} data files are gone, such as {lost[0]}" if lost else None


def _some(wrong: list[str]) -> str:
    more = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
    return "; ".join(wrong[:SHOWN]) + more
