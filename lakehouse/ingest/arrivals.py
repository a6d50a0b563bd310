"""How a source's columns differ from those that its contract and its table have, and what becomes of each."""

from collections.abc import Collection, Iterator, Sequence

from lakehouse.ingest.columns import WHOLE_NUMBERS, Column
from lakehouse.ingest.incoming import Brought, Incoming
from lakehouse.ingest.source import LOAD_COLUMNS, Extraction
from lakehouse.quality.drift import Arrival

WHY = {
    "new_column": "is not declared: what it holds goes to quarantine",
    "name_collision": "has the name of another column: what it holds goes to quarantine",
}


def note_arrivals(
    extraction: Extraction,
    columns: Sequence[Incoming],
    besides: Collection[str] = (),
    *,
    typed: bool = True,
) -> None:
    """Keep what differs for the check of the columns.

    Args:
        besides: columns of the table that are there though the source brings none such.
        typed: whether the source's values have types; those of a text file have what they are read as.
    """
    extraction.arrivals.extend(_of_each(columns, typed=typed))
    extraction.arrivals.extend(_left_out(extraction, {column.name for column in columns} | set(besides)))


def _of_each(columns: Sequence[Incoming], *, typed: bool) -> Iterator[Arrival]:
    for incoming in columns:
        called = str(incoming.brought)
        if incoming.unwanted is not None:
            yield Arrival(called, called, WHY[incoming.unwanted], warns=True)
            continue
        if called != incoming.name:
            yield Arrival(incoming.name, called, f"is loaded as {incoming.name}")
        kind = _kind(incoming.brought) if typed else ""
        if incoming.declared and incoming.column and kind and not _same(kind, incoming.column, incoming):
            yield Arrival(incoming.name, f"{called} {kind}", f"{kind} is read as {incoming.column.type}")


def _left_out(extraction: Extraction, there: set[str]) -> Iterator[Arrival]:
    source = extraction.source
    for name in source.column_names:
        if name not in there:
            yield Arrival(name, "", "is left out by the source, and is null")
    added = {column.name for column in LOAD_COLUMNS}
    for name in sorted(extraction.had):
        if name not in there and name not in added and name not in source.column_names:
            yield Arrival(name, "", "is not declared and comes no more: it is null in these rows", warns=True)


def _kind(brought: Brought) -> str:
    kind = brought.is_ or str(brought.type).lower()
    return kind.replace("timestamp with time zone", "timestamptz")


def _same(kind: str, column: Column, incoming: Incoming) -> bool:
    """Whether a type is the declared one; the numbers and texts of Python are of no one width."""
    declared = column.type.replace(" ", "")
    if incoming.brought.is_ and kind == "bigint":
        return column.type in WHOLE_NUMBERS
    if incoming.brought.is_ and kind.startswith("decimal"):
        return declared.startswith("decimal")
    return kind.replace(" ", "") == declared
