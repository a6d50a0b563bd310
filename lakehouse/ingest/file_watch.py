"""What is new among a source's files: each version once, whole, and nothing that was only touched."""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from uuid import uuid4

from lakehouse.ingest.file_pattern import SourceFile

DIGITS = 32  # of a digest: enough to tell versions of one file apart


@dataclass
class FileMemory:
    """What was seen of a source's files; a sensor's cursor.

    Args:
        id: of this memory; another begins anew.
        requests: how often it led to loads.
        seen: version and digest of each file that was taken notice of.
        waiting: version of a file that may still be written, and since when it is the same.
        loaded: the partitions that were known to be loaded ("" is a table that has none).
    """

    id: str = field(default_factory=lambda: uuid4().hex[:8])
    requests: int = 0
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    waiting: dict[str, tuple[str, float]] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)

    def dumps(self) -> str:
        """The memory as text; a file takes some 60 characters of it."""
        said = vars(self) | {"loaded": sorted(self.loaded)}
        return base64.b64encode(zlib.compress(json.dumps(said).encode())).decode()

    @classmethod
    def loads(cls, text: str | None) -> "FileMemory":
        """The memory of such a text; an empty one if there is none.

        Raises:
            ValueError: the text is no memory.
        """
        if not text:
            return cls()
        try:
            said = json.loads(zlib.decompress(base64.b64decode(text)))
        except zlib.error as error:
            raise ValueError("the cursor cannot be read") from error
        pairs = {
            kind: {name: tuple(pair) for name, pair in said[kind].items()} for kind in ("seen", "waiting")
        }
        return cls(said["id"], said["requests"], loaded=set(said["loaded"]), **pairs)


@dataclass
class Look:
    """What a look at the files came to.

    Args:
        changed: the partitions with a new or changed file, each with all of its files.
        unsettled: files that may still be written.
        touched: files that were written again with the same content.
        gone: names of the files that are no longer there.
        postponed: partitions that this look had no time for.
    """

    changed: dict[date | None, list[SourceFile]] = field(default_factory=dict)
    unsettled: list[SourceFile] = field(default_factory=list)
    touched: list[SourceFile] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    postponed: int = 0


@dataclass(frozen=True)
class Watch:
    """How files are looked at.

    Args:
        digest: of a file's content.
        settle_seconds: for how long a file must be the same before it is read.
        has_time: whether there is time for one more partition.
    """

    digest: Callable[[SourceFile], str]
    settle_seconds: float
    has_time: Callable[[], bool] = lambda: True

    def look(
        self,
        memory: FileMemory,
        found: Mapping[date | None, list[SourceFile]],
        there: Iterable[str],
        now: float,
    ) -> Look:
        """Compare the files with what was seen of them, and note it.

        Args:
            found: the files that count, by partition.
            there: names of all files, also of those that do not count yet.
            now: in seconds.
        """
        names = set(there)
        look = Look(gone=sorted(memory.seen.keys() - names))
        memory.seen = {name: seen for name, seen in memory.seen.items() if name in names}
        memory.waiting = {name: since for name, since in memory.waiting.items() if name in names}
        for partition, files in found.items():
            news = [file for file in files if memory.seen.get(file.name, ("", ""))[0] != file.version]
            unsettled = [file for file in news if not self._is_settled(memory, file, now)]
            if unsettled:
                look.unsettled += unsettled
            elif news and not self.has_time():
                look.postponed += 1
            elif news and self._note(memory, news, look):
                look.changed[partition] = files
        return look

    def _is_settled(self, memory: FileMemory, file: SourceFile, now: float) -> bool:
        """Whether a file has been the same for long enough; the file's own time may be of another clock."""
        version, since = memory.waiting.get(file.name, ("", now))
        if version != file.version:
            memory.waiting[file.name] = (file.version, now)
            return False
        return now - since >= self.settle_seconds

    def _note(self, memory: FileMemory, news: Iterable[SourceFile], look: Look) -> bool:
        """Note the files as seen; returns whether the content of any is another."""
        changed = False
        for file in news:
            digest = self.digest(file)
            if memory.seen.get(file.name, ("", ""))[1] == digest:
                look.touched.append(file)
            else:
                changed = True
            memory.seen[file.name] = (file.version, digest)
            del memory.waiting[file.name]
        return changed


def digest_below(folder: Path, largest: int) -> Callable[[SourceFile], str]:
    """Digests the content of files; of those larger than some bytes, the version stands for it."""

    def digest(file: SourceFile) -> str:
        if file.size > largest:
            return file.version
        with (folder / file.name).open("rb") as content:
            return hashlib.file_digest(content, "blake2s").hexdigest()[:DIGITS]

    return digest
