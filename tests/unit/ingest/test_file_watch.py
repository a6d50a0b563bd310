"""What a look at a source's files takes for new: each version once, whole, and nothing only touched."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from lakehouse.ingest.file_pattern import FilePattern
from lakehouse.ingest.file_watch import FileMemory, Look, Watch, digest_below

DAY = date(2013, 5, 1)
SETTLE = 10.0


class Source:
    """A folder of files, looked at as a sensor does: its memory goes through text each time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cursor, self.now, self.wrote = folder, "", 1000.0, 0
        self.pattern = FilePattern("sales/{partition}.csv")

    def write(self, name: str, text: str) -> None:
        file = self.folder / "sales" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        self.wrote += 1
        os.utime(file, ns=(self.wrote, self.wrote))

    def look(self, seconds: float = SETTLE, has_time: Callable[[], bool] = lambda: True) -> Look:
        self.now += seconds
        memory = FileMemory.loads(self.cursor)
        there = list(self.pattern.find(self.folder))
        found = {file.partition: [file] for file in there}
        watch = Watch(digest_below(self.folder, 1000), SETTLE, has_time)
        look = watch.look(memory, found, (file.name for file in there), self.now)
        self.cursor = memory.dumps()
        return look


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_a_file_is_new_once(source: Source) -> None:
    source.write("2013-05-01.csv", "a")
    assert not source.look().changed
    assert list(source.look().changed) == [DAY]
    assert not source.look().changed


def test_a_file_that_still_grows_is_left_until_it_does_not(source: Source) -> None:
    for text in ("a", "ab", "abc"):
        source.write("2013-05-01.csv", text)
        look = source.look()
        assert not look.changed
        assert [file.name for file in look.unsettled] == ["sales/2013-05-01.csv"]
    assert not source.look(SETTLE / 2).changed
    assert list(source.look(SETTLE / 2).changed) == [DAY]


def test_a_corrected_file_is_new_again_and_so_is_its_old_version(source: Source) -> None:
    for text in ("a", "b", "a"):
        source.write("2013-05-01.csv", text)
        source.look()
        assert list(source.look().changed) == [DAY]


def test_a_file_that_was_only_touched_is_not_new(source: Source) -> None:
    source.write("2013-05-01.csv", "a")
    source.look()
    source.look()
    source.write("2013-05-01.csv", "a")
    source.look()
    look = source.look()
    assert not look.changed
    assert [file.name for file in look.touched] == ["sales/2013-05-01.csv"]
    assert not source.look().touched


def test_a_large_file_counts_by_size_and_time(source: Source) -> None:
    source.write("2013-05-01.csv", "a" * 2000)
    source.look()
    source.look()
    source.write("2013-05-01.csv", "a" * 2000)
    source.look()
    assert list(source.look().changed) == [DAY]


def test_a_file_that_is_gone_is_told_once_and_is_new_when_it_comes_back(source: Source) -> None:
    source.write("2013-05-01.csv", "a")
    source.look()
    source.look()
    (source.folder / "sales" / "2013-05-01.csv").unlink()
    assert source.look().gone == ["sales/2013-05-01.csv"]
    assert source.look().gone == []
    source.write("2013-05-01.csv", "a")
    source.look()
    assert list(source.look().changed) == [DAY]


def test_what_there_is_no_time_for_comes_with_the_next_look(source: Source) -> None:
    for day in range(1, 10):
        source.write(f"2013-05-0{day}.csv", "a")
    source.look()
    left = iter([True] * 4 + [False] * 5)
    look = source.look(has_time=lambda: next(left))
    assert (len(look.changed), look.postponed) == (4, 5)
    later = source.look()
    assert len(later.changed) == 5
    assert not look.changed.keys() & later.changed.keys()


def test_names_that_are_no_day_are_no_partition(source: Source) -> None:
    for name in ("2013-02-30.csv", "2013-05-01.csv.partial", "notes.csv"):
        source.write(name, "a")
    assert list(source.pattern.find(source.folder)) == []


def test_a_pattern_stays_below_the_source_folder() -> None:
    for text in ("/etc/{partition}", "../{partition}.csv"):
        with pytest.raises(ValueError, match="leaves the source folder"):
            FilePattern(text)
