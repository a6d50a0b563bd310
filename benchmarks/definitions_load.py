"""Loading all definitions, as each of Dagster's processes does first, beyond the imports of the tools."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measure import measure
from benchmarks.results import Result

TITLE = "Loading the definitions"
OURS = ("lakehouse", "assets", "checks", "demo", "benchmarks")
TIMES = 3


def modules(file: str) -> dict[str, Any]:
    """Note the modules of others that are there once the definitions are, in the order in which they came."""
    before = set(sys.modules)
    _load()
    names = [name for name in sys.modules if name not in before and name.partition(".")[0] not in OURS]
    Path(file).write_text("\n".join(names), encoding="utf-8")  # thousands: more than a pipe holds
    return {"seconds": 0.0}


def load(file: str) -> dict[str, Any]:
    """Import the tools, then load our definitions and what Dagster makes of them."""
    others = Path(file).read_text(encoding="utf-8").splitlines()
    started = time.perf_counter()
    for name in others:
        with suppress(ImportError):  # some are made by their package, or only to be had through it
            import_module(name)
    imported = time.perf_counter()
    assets = _load()
    return {
        "seconds": time.perf_counter() - imported,
        "imports": imported - started,
        "assets": assets,
    }


def _load() -> int:
    """Load them to the point where a run can start; returns how many assets there are."""
    from lakehouse.definitions import defs

    return len(defs.get_repository_def().asset_graph.get_all_asset_keys())


def run(folder: Path) -> Iterator[Result]:
    """The best of some times; the first one also makes the manifest if it is stale."""
    file = str(folder / "modules.txt")
    measure(modules, file=file)
    loads = [measure(load, file=file) for _ in range(TIMES)]
    best = min(loads, key=lambda each: each.seconds)
    yield Result(
        "definitions to the point where a run can start, beyond the imports of the tools",
        best.seconds,
        2,
        "s",
        f"imports {best.values['imports']:.1f} s, {best.values['assets']} assets, "
        f"{best.peak_mb:.0f} MB; the best of {TIMES}",
    )
