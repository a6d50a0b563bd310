"""Run the benchmarks, all or those named, and write RESULTS.md (only if all were run)."""

import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks import results

ALL = (
    "bronze_load",
    "upsert",
    "silver_model",
    "contract_checks",
    "distribution",
    "demo_year",
    "many_commits",
    "definitions_load",
)


def main(names: list[str]) -> int:
    """Returns how many goals were missed."""
    sections = []
    for name in names or ALL:
        benchmark = import_module(f"benchmarks.{name}")
        folder = Path(tempfile.mkdtemp(prefix=f"bench-{name}-"))
        try:
            figures = []
            for result in benchmark.run(folder):
                print(f"{'ok  ' if result.met else 'MISS'} {results.line(result)}", flush=True)
                figures.append(result)
            sections.append((benchmark.TITLE, figures))
        finally:
            shutil.rmtree(folder)
    if not names:
        results.write(sections)
    return sum(not result.met for _, figures in sections for result in figures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
