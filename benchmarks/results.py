"""The table of results and the machine they were measured on."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

from benchmarks.measure import Measured

RESULTS = Path(__file__).parent / "RESULTS.md"
PACKAGES = ("duckdb", "pyiceberg", "pyarrow", "dlt", "dbt-duckdb", "dagster")


@dataclass(frozen=True)
class Result:
    """One figure beside its goal.

    Args:
        measured: the figure, a ratio or an amount in `unit`.
        goal: what it must not exceed; with `at_least`, what it must reach.
        detail: what it was computed from.
    """

    what: str
    measured: float
    goal: float
    unit: str
    detail: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal was reached."""
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal


def write(sections: Sequence[tuple[str, Iterable[Result]]]) -> None:
    """Write RESULTS.md: a table for each benchmark."""
    text = [
        "# Results of the benchmarks",
        "",
        "Written by `make bench`. Each ratio compares two pieces of work of one run, each in a process of",
        "its own; times leave out start-up and imports, memory is the peak of the whole process tree.",
        "",
        _machine(),
    ]
    for title, results in sections:
        text += [
            "",
            f"## {title}",
            "",
            "| what | measured | goal | met | from |",
            "| --- | --- | --- | --- | --- |",
        ]
        text += [line(result) for result in results]
    RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")


def beside(ours: Measured, name: str, other: Measured) -> str:
    """Time and memory of two pieces of work, for a result's detail."""
    return f"{_spent(ours)}; {name} {_spent(other)}"


def _spent(measured: Measured) -> str:
    return f"{measured.seconds:.1f} s and {measured.peak_mb:.0f} MB"


def line(result: Result) -> str:
    """A row of the table."""
    bound = "at least" if result.at_least else "at most"
    return (
        f"| {result.what} | {result.measured:.3g} {result.unit} | {bound} {result.goal:g} {result.unit} "
        f"| {'yes' if result.met else '**no**'} | {result.detail} |"
    )


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    gigabytes = psutil.virtual_memory().total / 1e9
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, {gigabytes:.0f} GB, Python {platform.python_version()}; {packages}."
    )
