"""What was told is not told again within the time, by whichever process."""

import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse.alerts.memory import KEPT_SECONDS, Memory
from lakehouse.alerts.outcome import Finding, Kind

NONE: frozenset[str] = frozenset()


def failed(partition: str = "2013-01-01") -> Finding:
    return Finding(Kind.CHECK, "silver.t", partition, "uniqueness_id")


def aside(rows: int) -> Finding:
    return Finding(Kind.QUARANTINE, "silver.t", "2013-01-01", Kind.QUARANTINE, rows=rows)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "data" / "alerts.db", repeat_seconds=3600)


def test_the_same_is_told_again_only_after_the_time(memory: Memory) -> None:
    told = [len(memory.claim([failed()], adding=NONE, now=now)) for now in (1e6, 1e6 + 3599, 1e6 + 3601)]
    assert told == [1, 0, 1]  # silence does not prolong the time


def test_another_partition_is_told(memory: Memory) -> None:
    memory.claim([failed()], adding=NONE, now=1e6)
    assert memory.claim([failed(), failed("2013-01-02")], adding=NONE, now=1e6) == [failed("2013-01-02")]


def test_what_was_mended_is_told_at_once(memory: Memory) -> None:
    memory.forget([failed().key])  # nothing was told yet
    memory.claim([failed()], adding=NONE, now=1e6)
    memory.forget([failed().key])
    assert memory.claim([failed()], adding=NONE, now=1e6 + 1) == [failed()]


def test_quarantine_is_told_when_it_is_more_than_it_was(memory: Memory) -> None:
    steps = [(3, 0), (3, 4000), (2, 4001), (3, 4002)]
    told = [len(memory.claim([aside(rows)], adding=NONE, now=1e6 + at)) for rows, at in steps]
    assert told == [1, 0, 0, 1]


def test_of_a_table_that_is_added_to_the_time_counts(memory: Memory) -> None:
    adding = frozenset({"silver.t"})
    told = [len(memory.claim([aside(3)], adding=adding, now=1e6 + at)) for at in (0, 60, 3601)]
    assert told == [1, 0, 1]


def test_old_entries_go(memory: Memory) -> None:
    memory.claim([aside(3)], adding=NONE, now=1e6)
    assert memory.claim([aside(3)], adding=NONE, now=1e6 + KEPT_SECONDS + 1) == [aside(3)]


CLAIM = """
import sys
from pathlib import Path
from lakehouse.alerts.memory import Memory
from lakehouse.alerts.outcome import Finding, Kind

memory = Memory(Path(sys.argv[1]), 3600)
print("ready", flush=True)
sys.stdin.readline()
found = [Finding(Kind.CHECK, "silver.t", str(day), "uniqueness_id") for day in range(200)]
for one in found:
    print(len(memory.claim([one], adding=frozenset(), now=1e6)), flush=True)
"""


def test_of_two_processes_one_tells(memory: Memory) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(memory.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    told = [[int(line) for line in run.communicate(timeout=60)[0].split()] for run in runs]
    assert [sum(pair) for pair in zip(*told, strict=True)] == [1] * 200
