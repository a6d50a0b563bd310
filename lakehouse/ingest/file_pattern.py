"""Which files a source reads, and of which partition each is."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

PLACE = "{partition}"
DAY = "[0-9]" * 4 + "-" + "[0-9]" * 2 + "-" + "[0-9]" * 2
ANY = r"[^/]*"
READABLE = 200  # characters of a version that a person may want to read


@dataclass(frozen=True)
class SourceFile:
    """A file as it is now.

    Args:
        name: its path below the source folder.
        partition: of which it is; None for a table without partitions.
        size: in bytes.
        modified: when it was last written, in nanoseconds.
    """

    name: str
    partition: date | None
    size: int
    modified: int

    @property
    def version(self) -> str:
        """What is another once the file was written again."""
        return f"{self.size}:{self.modified}"


@dataclass(frozen=True)
class FilePattern:
    """Paths below the source folder, such as `flights/{partition}.csv`; `*` is any text without a slash.

    Raises:
        ValueError: the pattern leaves the source folder, or names the partition twice.
    """

    text: str

    def __post_init__(self) -> None:
        if Path(self.text).is_absolute() or ".." in Path(self.text).parts:
            raise ValueError(f"The pattern {self.text} leaves the source folder: name files below it.")
        if self.text.count(PLACE) > 1:
            raise ValueError(f"The pattern {self.text} names {PLACE} more than once.")

    @property
    def is_partitioned(self) -> bool:
        """Whether a file is of one partition."""
        return PLACE in self.text

    def path(self, folder: Path, partition: date | None) -> Path:
        """The one file of a partition.

        Raises:
            ValueError: the pattern stands for any number of files.
        """
        if "*" in self.text:
            raise ValueError(f"{self.text} stands for any number of files: ask for all of a partition.")
        return folder / self.text.replace(PLACE, str(partition))

    def find(self, folder: Path, partition: date | None = None) -> Iterator[SourceFile]:
        """The files that are there, in order of their names: of one partition, or (None) all of them."""
        asked = DAY if partition is None else partition.isoformat()
        for path in sorted(folder.glob(self.text.replace(PLACE, asked))):
            name = path.relative_to(folder).as_posix()
            day = self.partition_of(name)
            if self.is_partitioned and day is None:
                continue  # 2013-02-30
            try:
                there = path.stat()
            except FileNotFoundError:
                continue  # gone since it was listed
            if path.is_file():
                yield SourceFile(name, day, there.st_size, there.st_mtime_ns)

    def partition_of(self, name: str) -> date | None:
        """The partition that a file's name says; None if it says none."""
        matched = self._regex.fullmatch(name)
        try:
            return date.fromisoformat(matched["partition"]) if matched and self.is_partitioned else None
        except ValueError:
            return None

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = re.escape(self.text).replace(re.escape("*"), ANY)
        return re.compile(parts.replace(re.escape(PLACE), f"(?P<partition>{DAY})"))


def version_of(files: Iterable[SourceFile]) -> str:
    """Of a partition's files, what is another once any of them was written again, came or went."""
    said = ", ".join(f"{file.name} {file.version}" for file in files)
    return said if len(said) <= READABLE else hashlib.sha256(said.encode()).hexdigest()
