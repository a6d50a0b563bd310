"""One piece of work in a process of its own: its time, and the peak memory of its whole process tree."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Measured:
    """What a piece of work took.

    Args:
        values: what the work returned; `seconds` is its own time, without start-up and imports.
        seconds: the same.
        process_seconds: from the start of the process to its end.
        peak_mb: the most that the process and its children held at a time, in MB of 10^6 bytes.
    """

    values: dict[str, Any]
    seconds: float
    process_seconds: float
    peak_mb: float


def measure(work: Callable[..., dict[str, Any]], **arguments: Any) -> Measured:
    """Call a module's function in a new process.

    Args:
        work: returns JSON values, `seconds` among them.
        arguments: JSON values.

    Raises:
        RuntimeError: the work failed.
    """
    call = json.dumps({"module": work.__module__, "function": work.__name__, "arguments": arguments})
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.measure", call], stdout=subprocess.PIPE, text=True
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, _tree_bytes(process.pid))
        time.sleep(POLL_SECONDS)
    took = time.perf_counter() - started
    printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise RuntimeError(f"{work.__module__}.{work.__name__} failed with exit code {process.returncode}.")
    values = json.loads(printed.splitlines()[-1])
    return Measured(values, values["seconds"], took, peak / 1e6)


def _tree_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
    return total


def _child(call: str) -> None:
    from importlib import import_module

    told = json.loads(call)
    values = getattr(import_module(told["module"]), told["function"])(**told["arguments"])
    print(json.dumps(values))


if __name__ == "__main__":
    _child(sys.argv[1])
