"""The lines of a file of JSON objects that are rows, kept with their numbers; the others are set aside."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse.ingest import json_values
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.incoming import DISCARDING, normalized
from lakehouse.ingest.landed import relation_of
from lakehouse.ingest.source import Extraction
from lakehouse.storage.sql import literal

SHOWN_TEXT = 200  # characters of a line
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BATCH = 20_000  # lines that are kept in memory


@dataclass(frozen=True)
class Shape:
    """What some lines of a file have in common.

    Args:
        kind: OBJECT, or what else of JSON the lines are.
        keys: the objects' keys, sorted; one that an object has twice is in it twice.
        row: the first such line, blank lines not counted.
    """

    kind: str
    keys: list[str]
    row: int


class _Pairs(list[tuple[str, Any]]):
    """An object, with a key that it has twice."""


def keep_lines(extraction: Extraction, file: Path, shown: Path) -> str | None:
    """The rows of a file, as a relation of `lakehouse_row` (the line's number) and `json`; None: it has none.

    Raises:
        SourceError: a line is no row, and the schema mode is not to discard it.
    """
    folder = extraction.folder / f"{file.name}-lines"
    folder.mkdir(exist_ok=True)
    files: list[str] = []
    rows: list[tuple[int, str]] = []
    others: list[tuple[int, str, str]] = []
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            why = _why_broken(line) or _why_no_row(line, number)
            text = line.decode("utf-8", errors="backslashreplace").strip()
            if why is None:
                rows.append((number, text))
            elif extraction.source.mode not in DISCARDING:
                raise SourceError(f"{shown}: line {number} {why}.")
            else:
                others.append((number, text, why))
            if len(rows) + len(others) >= BATCH:
                _flush(extraction, shown, folder, files, rows, others)
    _flush(extraction, shown, folder, files, rows, others)
    relation = f"(select lakehouse_row, json::json as json from {relation_of(files)})"
    return relation if files else None


def _flush(
    extraction: Extraction,
    shown: Path,
    folder: Path,
    files: list[str],
    rows: list[tuple[int, str]],
    others: list[tuple[int, str, str]],
) -> None:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    def write(lines: Sequence[tuple[Any, ...]], names: list[str], name: str) -> str:
        table = pa.table([list(column) for column in zip(*lines, strict=True)], names=names)
        pq.write_table(table, folder / name)
        return str(folder / name)

    if rows:
        files.append(write(rows, ["lakehouse_row", "json"], f"{len(files)}.parquet"))
    if others:
        written = write(others, ["source_row", "raw", "reason"], "others.parquet")
        extraction.quarantined.add(
            extraction.partition,
            "select null as column_name, null as value, 'unreadable' as rule, reason, raw,"
            f" {literal(shown)} as source_file, source_row from {relation_of([written])}",
        )
    rows.clear()
    others.clear()


def first_broken_line(file: Path) -> str | None:
    """Which line of a file is not JSON, and why; DuckDB's own line numbers are another's."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if why := _why_broken(line):
                cut_off = "" if line.endswith(b"\n") else " The file ends there: is it cut off?"
                return f"line {number} {why}.{cut_off}"
    return None


def _why_broken(line: bytes) -> str | None:
    """What is wrong with a line, None if nothing is."""
    if line.startswith(BYTE_ORDER_MARK):
        return "begins with a byte order mark. Have the source write UTF-8 without one"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return "is not UTF-8. Convert the file to UTF-8"
    if "\0" in text:
        return "is not UTF-8, or holds a zero byte. Convert the file to UTF-8"
    if not text.strip():
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg} (character {error.pos + 1}) in {text.rstrip()[:SHOWN_TEXT]!r}"
    return None


def _why_no_row(line: bytes, number: int) -> str | None:
    """Why a line of JSON is no row, None if it is one."""
    value = json.loads(line, object_pairs_hook=_Pairs)
    kind, keys = "NULL", list[str]()
    match value:
        case _Pairs():
            kind, keys = "OBJECT", [key for key, _ in value]
        case list():
            kind = "ARRAY"
        case bool():
            kind = "BOOLEAN"
        case str():
            kind = "VARCHAR"
        case int() | float():
            kind = "DOUBLE"
    return next((why for _, why in refusals([Shape(kind, keys, number)], ())), None)


def refusals(shapes: Sequence[Shape], required: Sequence[str]) -> Iterator[tuple[int, str]]:
    """What is wrong with a file's shapes: the first row of each, and the reason."""
    for shape in shapes:
        lower = [key.lower() for key in shape.keys]  # DuckDB takes names that differ by case for one
        missing = [name for name in required if name not in shape.keys]
        if missing:
            present = {normalized(key) for key in shape.keys if key}
            missing = [name for name in missing if normalized(name) not in present]
        if shape.kind != "OBJECT":
            word = json_values.WORDS.get(shape.kind, "null")
            yield shape.row, f"is {word}, not an object: each line is one row"
        elif twice := [key for key in lower if lower.count(key) > 1]:
            yield shape.row, f"has the column {twice[0]!r} twice"
        elif "" in shape.keys:
            yield shape.row, "has a column without a name"
        elif missing:
            unknown = [key for key in shape.keys if key not in required]
            hint = f" It has instead: {', '.join(unknown)}." if unknown else ""
            yield shape.row, f"lacks the column {', '.join(missing)}.{hint}"
