"""A replay that ends at any point, or meets another writer: each row is somewhere, and nowhere twice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from replay_sources import LAST, NEWEST, adding, aside, contract, replayed, row, sold
from sources import Lake

from lakehouse.ingest import replay as replaying
from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.source import BronzeSource
from lakehouse.quality.backlog import Backlog
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage import write
from lakehouse.storage.errors import StorageError
from lakehouse.storage.merge import MergeKey

KEYS = pytest.mark.parametrize("key", [None, NEWEST, LAST])
BATCH = row(1, "1"), row(2, "20"), row(3, "30"), row(4, "400")
PUBLISHED = [(1, 1, 1), (2, 1, 20), (3, 1, 30)]
STILL_BAD = [("validity_price", "4")]


class Killed(BaseException):
    """What no code catches, as if the process had died."""


def die_before(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, passed: int = 0) -> None:
    """Let the next call of a function end the process, in a way, after so many that do not."""
    real, left = getattr(owner, name), [passed]

    def dies(*args: Any, **kwargs: Any) -> Any:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, dies)


def die_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    die_before(monkeypatch, replaying, "_publish")


def die_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """After what is still bad was written to quarantine once more, before the commit."""
    real = Quarantine.write

    def writes(*args: Any) -> None:
        real(*args)
        raise Killed

    monkeypatch.setattr(Quarantine, "write", writes)


def die_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    die_before(monkeypatch, Backlog, "settle", passed=1)


@KEYS
@pytest.mark.parametrize("die", [die_taken_up, die_set_aside, die_committed])
def test_a_replay_that_died_is_ended_by_the_next(
    lake: Lake,
    tmp_path: Path,
    key: MergeKey | None,
    die: Callable[[pytest.MonkeyPatch], None],
) -> None:
    lake.load(adding(contract(tmp_path), *BATCH, key=key))
    mended = adding(contract(tmp_path, most=100), key=key)
    with pytest.MonkeyPatch.context() as patched:
        die(patched)
        with pytest.raises(Killed):
            replayed(lake, mended)
    assert sold(lake) == (PUBLISHED if die is die_committed else PUBLISHED[:1])

    # A load comes between, which sets something else aside.
    lake.load(adding(contract(tmp_path, most=100), row(5, "500"), row(6, "6"), key=key))
    replayed(lake, mended)

    assert sold(lake) == [*PUBLISHED, (6, 1, 6)]
    assert sorted(aside(lake)) == [*STILL_BAD, ("validity_price", "5")]
    replayed(lake, mended)
    assert sold(lake) == [*PUBLISHED, (6, 1, 6)]
    assert sorted(aside(lake)) == [*STILL_BAD, ("validity_price", "5")]


def test_of_two_replays_at_once_the_second_is_refused(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.load(adding(contract(tmp_path), *BATCH))
    mended = adding(contract(tmp_path, most=100))
    meanwhile(monkeypatch, lambda: refused(lake, mended))

    replayed(lake, mended)

    assert sold(lake) == PUBLISHED
    assert aside(lake) == STILL_BAD


@KEYS
def test_a_load_at_the_same_time_loses_nothing_and_adds_nothing(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: MergeKey | None
) -> None:
    lake.load(adding(contract(tmp_path), *BATCH, key=key))
    declared = contract(tmp_path, most=100)
    other = adding(declared, row(2, "2", version=2), row(5, "500"), key=key)
    meanwhile(monkeypatch, lambda: lake.load(other))

    replayed(lake, adding(declared, key=key))

    newest = sold(lake)
    if key is None:
        assert newest == sorted([*PUBLISHED, (2, 2, 2)])
    else:
        assert newest == [(1, 1, 1), (2, 2, 2), (3, 1, 30)]
    assert sorted(aside(lake)) == [*STILL_BAD, ("validity_price", "5")]


def refused(lake: Lake, source: BronzeSource) -> None:
    with pytest.raises(LoadError, match=r"bronze\.t is being replayed by another process: wait for its end"):
        replayed(lake, source)


def meanwhile(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> None:
    """Let an action happen once the rows of a replay are staged, before they are committed."""
    real, pending = write.Write._commit, [action]

    def commit(self: write.Write, *args: Any) -> Any:
        if self.spec.name == "bronze.t" and pending:
            pending.pop()()
        return real(self, *args)

    monkeypatch.setattr(write.Write, "_commit", commit)


@KEYS
def test_a_load_that_is_done_again_sets_no_row_aside_twice(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: MergeKey | None
) -> None:
    source = adding(contract(tmp_path), *BATCH, key=key)
    lake.load(adding(contract(tmp_path), row(0, "1"), key=key))  # of a table that is there a load adds
    real = Quarantine.write

    def writes(*args: Any) -> None:
        real(*args)
        raise StorageError("the store is gone")

    with monkeypatch.context() as broken:
        broken.setattr(Quarantine, "write", writes)
        with pytest.raises(LoadError, match="the store is gone"):
            lake.load(source)
    lake.load(source)

    assert sorted(number for _, number in aside(lake)) == ["2", "3", "4"]
