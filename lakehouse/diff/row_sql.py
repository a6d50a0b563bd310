"""SQL that compares the rows of two queries by DuckDB, which spills what does not fit its memory.

Rows that are the same on both sides cancel each other out, as often as both have them. What is left
is paired by the key. Columns are called `c0`, `c1`, … here, by their place among the pairs.
"""

from collections.abc import Sequence

from lakehouse.diff.columns import Pair
from lakehouse.storage.sql import identifier


def differing_rows(old: str, new: str, pairs: Sequence[Pair]) -> str:
    """SQL of the rows that are not the same on both sides; `surplus` is how many more the newer has."""
    columns = _names(pairs)
    return (
        f"select {columns}, sum(side)::bigint as surplus from ("
        f"select {_values(pairs, old=True)}, -1 as side from ({old})"
        f" union all select {_values(pairs, old=False)}, 1 from ({new})"
        f") group by {columns} having sum(side) <> 0"
    )


def single_rows(pairs: Sequence[Pair], key: Sequence[int]) -> str:
    """SQL of the differing rows one by one; `nth` counts those of one key and side."""
    within = ", ".join((*(f"c{i}" for i in key), "is_new"))
    return (
        f"select *, row_number() over (partition by {within} order by {_names(pairs)}) as nth from ("
        f"select {_names(pairs)}, surplus > 0 as is_new, unnest(range(abs(surplus))) as copy from differing)"
    )


def changed_rows(pairs: Sequence[Pair], key: Sequence[int]) -> str:
    """SQL of the rows that both sides have under one key: `o0`, … of the older, `n0`, … of the newer."""
    both = range(len(pairs))
    columns = ", ".join([*(f"o.c{i} as o{i}" for i in both), *(f"n.c{i} as n{i}" for i in both)])
    return f"select {columns} from {_joined(key)}"


def unpaired_rows(pairs: Sequence[Pair], key: Sequence[int], *, new: bool) -> str:
    """SQL of the rows that only one side has under their key."""
    mine, other = ("n", "o") if new else ("o", "n")
    columns = ", ".join(f"{mine}.c{i}" for i in range(len(pairs)))
    return (
        f"select {columns} from (from single where is_new = {new}) {mine}"
        f" anti join (from single where is_new = {not new}) {other} on {_same_key(key)}"
    )


def surplus_rows(pairs: Sequence[Pair], *, new: bool) -> str:
    """SQL of the rows that one side has and the other has not, or not so often; without a key."""
    return (
        f"select {_names(pairs)} from (select *, unnest(range(abs(surplus))) as copy from differing"
        f" where {'surplus > 0' if new else 'surplus < 0'})"
    )


def change_counts(pairs: Sequence[Pair]) -> str:
    """SQL of, for each column: rows whose value changed, those that had none, those that have none now."""
    counts = [
        f"count(*) filter (o{i} is distinct from n{i}),"
        f" count(*) filter (o{i} is null and n{i} is not null),"
        f" count(*) filter (o{i} is not null and n{i} is null)"
        for i in range(len(pairs))
    ]
    return f"select {', '.join(counts)} from changed"


def _joined(key: Sequence[int]) -> str:
    return f"(from single where not is_new) o join (from single where is_new) n on {_same_key(key)}"


def _same_key(key: Sequence[int]) -> str:
    same = [f"o.c{i} is not distinct from n.c{i}" for i in key]
    return " and ".join([*same, "o.nth = n.nth"])


def _names(pairs: Sequence[Pair]) -> str:
    return ", ".join(f"c{i}" for i in range(len(pairs)))


def _values(pairs: Sequence[Pair], *, old: bool) -> str:
    """The values of one side; those of nested columns whose type changed as text, which always compares."""
    columns = []
    for i, pair in enumerate(pairs):
        column = pair.old if old else pair.new
        value = identifier(column.name)
        as_text = pair.old.type != pair.new.type and (_nested(pair.old.type) or _nested(pair.new.type))
        columns.append(f"cast({value} as varchar) as c{i}" if as_text else f"{value} as c{i}")
    return ", ".join(columns)


def _nested(kind: str) -> bool:
    return kind.endswith("]") or kind.lower().startswith(("struct", "map"))
