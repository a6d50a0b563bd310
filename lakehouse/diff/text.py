"""A table's difference as a person reads it, and as a machine does."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lakehouse.diff.files import Side
from lakehouse.diff.table_diff import TableDiff
from lakehouse.storage.history import time_text, utc

SHOWN_COLUMNS = 8  # of an added or removed row; --json has all


def lines_of(diff: TableDiff) -> Iterator[str]:
    """The difference in lines."""
    yield f"{diff.table}, from {_point(diff.old)}"
    yield f"{' ' * len(diff.table)}    to {_point(diff.new)}"
    read, files = diff.old.read + diff.new.read, diff.old.files + diff.new.files
    if diff.wanted.partition:
        yield f"Of the partition {diff.wanted.partition} alone."
    yield f"Read: {read:,} of {files:,} data files, those that only one of the two has."
    yield from _columns(diff)
    yield from _rows(diff)
    yield from _changes(diff)
    if diff.changed_rows:
        yield from ("", _of("Changed rows", len(diff.changed_rows), diff.changed))
        yield from (f"  {_cells(one.key)}: {_values(one.values)}" for one in diff.changed_rows)
    for what, shown, count in (
        ("Added rows", diff.added_rows, diff.added),
        ("Removed rows", diff.removed_rows, diff.removed),
    ):
        if shown:
            yield from ("", _of(what, len(shown), count), *(f"  {_cells(row)}" for row in shown))


def json_of(diff: TableDiff) -> str:
    """The difference as one JSON object; values of rows are text, or null."""
    return json.dumps(
        {
            "table": diff.table,
            "differs": diff.differs,
            "partition": diff.wanted.partition,
            "from": _as_json(diff.old),
            "to": _as_json(diff.new),
            "schema": {
                "added": [vars(column) for column in diff.columns.added],
                "removed": [vars(column) for column in diff.columns.removed],
                "renamed": [{"from": pair.old.name, "to": pair.new.name} for pair in diff.columns.renamed],
                "retyped": [
                    {"column": pair.new.name, "from": pair.old.type, "to": pair.new.type}
                    for pair in diff.columns.retyped
                ],
            },
            "key": diff.wanted.key,
            "not_compared": sorted(diff.wanted.ignored),
            "rows": {
                "added": diff.added,
                "removed": diff.removed,
                "changed": diff.changed,
                "unchanged": diff.unchanged,
            },
            "repeated_keys": diff.repeated_keys,
            "columns": [vars(one) for one in diff.changes],
            "samples": {
                "added": diff.added_rows,
                "removed": diff.removed_rows,
                "changed": [
                    {"key": one.key, "values": {k: {"from": a, "to": b} for k, (a, b) in one.values.items()}}
                    for one in diff.changed_rows
                ],
            },
        },
        default=str,
        indent=2,
    )


def _point(side: Side) -> str:
    rows = "" if side.rows is None else f", {side.rows:,} rows"
    return f"{side.snapshot.snapshot_id} ({time_text(utc(side.snapshot.timestamp_ms))} UTC{rows})"


def _as_json(side: Side) -> dict[str, Any]:
    return {
        "snapshot_id": side.snapshot.snapshot_id,
        "committed": time_text(utc(side.snapshot.timestamp_ms)),
        "rows": side.rows,
        "files": side.files,
        "files_read": side.read,
    }


def _columns(diff: TableDiff) -> Iterator[str]:
    columns = diff.columns
    if not columns.differs:
        yield from ("", "Columns: the same")
        return
    yield from ("", "Columns")
    yield from (f"  added    {column.name} {column.type}" for column in columns.added)
    yield from (f"  removed  {column.name} {column.type}" for column in columns.removed)
    yield from (f"  renamed  {pair.old.name} to {pair.new.name}" for pair in columns.renamed)
    yield from (
        f"  retyped  {pair.new.name} from {pair.old.type} to {pair.new.type}" for pair in columns.retyped
    )


def _rows(diff: TableDiff) -> Iterator[str]:
    key = f"by {', '.join(diff.wanted.key)}" if diff.wanted.key else "without a key, as wholes"
    yield from ("", f"Rows, {key}")
    counts = {"added": diff.added, "removed": diff.removed, "changed": diff.changed}
    if diff.unchanged is not None:
        counts["the same"] = diff.unchanged
    if not diff.wanted.key:
        del counts["changed"]
    width = max(len(f"{count:,}") for count in counts.values())
    yield from (f"  {what:<8}  {count:>{width},}" for what, count in counts.items())
    if diff.wanted.ignored:
        yield f"  not compared: {', '.join(sorted(diff.wanted.ignored))}"
    if diff.repeated_keys:
        yield f"  {diff.repeated_keys:,} rows share their key with others: these are paired in their order."


def _changes(diff: TableDiff) -> Iterator[str]:
    if not diff.changes:
        return
    width = max(len(one.column) for one in diff.changes)
    yield from ("", "Changed values, by column")
    for one in diff.changes:
        of = [
            f"{count:,} {what}"
            for count, what in ((one.filled, "was null"), (one.emptied, "is null now"))
            if count
        ]
        yield f"  {one.column:<{width}}  {one.rows:,}{' (' + ', '.join(of) + ')' if of else ''}"


def _of(what: str, shown: int, count: int) -> str:
    return f"{what}, {shown:,} of {count:,}" if shown < count else what


def _cells(row: Mapping[str, str | None]) -> str:
    named = [f"{name}={_text(value)}" for name, value in row.items()]
    more = len(named) - SHOWN_COLUMNS
    return ", ".join(named[:SHOWN_COLUMNS]) + (f", and {more} more columns" if more > 0 else "")


def _values(values: Mapping[str, Sequence[str | None]]) -> str:
    return "; ".join(f"{name} {_text(old)} → {_text(new)}" for name, (old, new) in values.items())


def _text(value: str | None) -> str:
    """A value on one line; `null` in bare letters is no text."""
    return "null" if value is None else json.dumps(value, ensure_ascii=False) if _is_odd(value) else value


def _is_odd(value: str) -> bool:
    return value in ("", "null") or value != value.strip() or not value.isprintable()
