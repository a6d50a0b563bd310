"""Compares two snapshots of a table: schema, rows, and values by column, with samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakehouse.diff import row_sql
from lakehouse.diff.columns import ColumnDiff, Pair, compare_columns
from lakehouse.diff.errors import DiffError
from lakehouse.diff.files import Side, both_sides
from lakehouse.diff.key import places
from lakehouse.query_errors import unreadable
from lakehouse.storage import duckdb_session

if TYPE_CHECKING:
    from datetime import date

    from duckdb import DuckDBPyConnection
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot

    from lakehouse.settings import Settings


@dataclass(frozen=True)
class Wanted:
    """What is to be compared.

    Args:
        key: columns that rows are paired by; empty: rows are the same or not.
        ignored: columns that are not compared.
        masked: columns whose values are not shown.
        limit: how many rows of each kind are shown.
    """

    key: tuple[str, ...] = ()
    ignored: frozenset[str] = frozenset()
    masked: frozenset[str] = frozenset()
    partition: "date | None" = None
    limit: int = 10


@dataclass(frozen=True)
class ColumnChanges:
    """How many rows have another value of a column.

    Args:
        filled: of these, rows that had none.
        emptied: of these, rows that have none now.
    """

    column: str
    rows: int
    filled: int
    emptied: int


@dataclass(frozen=True)
class Change:
    """One changed row: its key, and of each column that differs the value before and after."""

    key: dict[str, str | None]
    values: dict[str, tuple[str | None, str | None]]


@dataclass(frozen=True)
class TableDiff:
    """The difference between two snapshots.

    Args:
        repeated_keys: differing rows whose key other differing rows of their side have too.
        added_rows, removed_rows, changed_rows: the first of them, each value as text.
    """

    table: str
    old: Side
    new: Side
    columns: ColumnDiff
    wanted: Wanted
    added: int
    removed: int
    changed: int = 0
    repeated_keys: int = 0
    changes: Sequence[ColumnChanges] = ()
    added_rows: list[dict[str, str | None]] = field(default_factory=list)
    removed_rows: list[dict[str, str | None]] = field(default_factory=list)
    changed_rows: list[Change] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.columns.differs or self.added or self.removed or self.changed)

    @property
    def unchanged(self) -> int | None:
        """Rows that both have; None: delete files hide how many there are."""
        return None if self.old.rows is None else self.old.rows - self.removed - self.changed


def compare(
    settings: "Settings", table: "Table", name: str, old: "Snapshot", new: "Snapshot", wanted: Wanted
) -> TableDiff:
    """Compare two snapshots of a table in DuckDB, within its memory limit.

    Raises:
        DiffError: the rows cannot be paired as wanted, or a file cannot be read.
    """
    import duckdb

    before, after = both_sides(table, name, old, new, wanted.partition)
    columns = compare_columns(before.schema, after.schema)
    pairs = [pair for pair in columns.pairs if pair.new.name not in wanted.ignored]
    if not pairs:
        raise DiffError(f"The two snapshots of {name} have no column in common that is compared.")
    key = places(wanted.key, pairs, name)
    diff = TableDiff(name, before, after, columns, wanted, added=0, removed=0)
    connection = duckdb_session.connect(settings)
    try:
        connection.execute(
            f"create temp table differing as {row_sql.differing_rows(before.query, after.query, pairs)}"
        )
        return _by_key(connection, diff, pairs, key) if key else _as_multisets(connection, diff, pairs)
    except duckdb.Error as error:
        raise DiffError(unreadable(name, error)) from error
    finally:
        connection.close()


def _as_multisets(connection: "DuckDBPyConnection", diff: TableDiff, pairs: Sequence[Pair]) -> TableDiff:
    added, removed = _row(
        connection,
        "select coalesce(sum(surplus) filter (surplus > 0), 0)::bigint,"
        " coalesce(-sum(surplus) filter (surplus < 0), 0)::bigint from differing",
    )
    return TableDiff(
        **_same(diff),
        added=added,
        removed=removed,
        added_rows=_shown(connection, row_sql.surplus_rows(pairs, new=True), diff.wanted, pairs, ()),
        removed_rows=_shown(connection, row_sql.surplus_rows(pairs, new=False), diff.wanted, pairs, ()),
    )


def _by_key(
    connection: "DuckDBPyConnection", diff: TableDiff, pairs: Sequence[Pair], key: Sequence[int]
) -> TableDiff:
    connection.execute(f"create temp table single as {row_sql.single_rows(pairs, key)}")
    connection.execute(f"create temp table changed as {row_sql.changed_rows(pairs, key)}")
    [changed] = _row(connection, "select count(*) from changed")
    added, removed, repeated = _row(
        connection,
        "select count(*) filter (is_new), count(*) filter (not is_new), count(*) filter (nth > 1)"
        " from single",
    )
    counts = _row(connection, row_sql.change_counts(pairs))
    changes = [
        ColumnChanges(pair.new.name, *counts[3 * i : 3 * i + 3])
        for i, pair in enumerate(pairs)
        if counts[3 * i]
    ]
    only_new, only_old = (row_sql.unpaired_rows(pairs, key, new=new) for new in (True, False))
    return TableDiff(
        **_same(diff),
        added=added - changed,
        removed=removed - changed,
        changed=changed,
        repeated_keys=repeated,
        changes=sorted(changes, key=lambda one: -one.rows),
        added_rows=_shown(connection, only_new, diff.wanted, pairs, key),
        removed_rows=_shown(connection, only_old, diff.wanted, pairs, key),
        changed_rows=_changes_shown(connection, diff.wanted, pairs, key),
    )


def _same(diff: TableDiff) -> dict[str, Any]:
    return {name: getattr(diff, name) for name in ("table", "old", "new", "columns", "wanted")}


def _row(connection: "DuckDBPyConnection", sql: str) -> tuple[Any, ...]:
    [row] = connection.execute(sql).fetchall()
    return tuple(row)


def _shown(
    connection: "DuckDBPyConnection", sql: str, wanted: Wanted, pairs: Sequence[Pair], key: Sequence[int]
) -> list[dict[str, str | None]]:
    """The first rows of one side, in the order of the key and then of all columns."""
    from lakehouse.quality.masking import hidden

    texts = ", ".join(f"cast(c{i} as varchar)" for i in range(len(pairs)))
    order = ", ".join([*(f"c{i}" for i in key), *(f"c{i}" for i in range(len(pairs)) if i not in key)])
    rows = connection.execute(f"select {texts} from ({sql}) order by {order} limit {wanted.limit}").fetchall()
    names = [pair.new.name for pair in pairs]
    return [
        {name: hidden(value, name in wanted.masked) for name, value in zip(names, row, strict=True)}
        for row in rows
    ]


def _changes_shown(
    connection: "DuckDBPyConnection", wanted: Wanted, pairs: Sequence[Pair], key: Sequence[int]
) -> list[Change]:
    from lakehouse.quality.masking import hidden

    every = range(len(pairs))
    texts = [*(f"cast(o{i} as varchar)" for i in every), *(f"cast(n{i} as varchar)" for i in every)]
    differs = [f"o{i} is distinct from n{i}" for i in every]
    order = ", ".join(f"n{i}" for i in (*key, *(i for i in every if i not in key)))
    rows = connection.execute(
        f"select {', '.join(texts + differs)} from changed order by {order} limit {wanted.limit}"
    ).fetchall()
    names = [pair.new.name for pair in pairs]
    mask = [name in wanted.masked for name in names]
    count = len(pairs)
    return [
        Change(
            {names[i]: hidden(row[count + i], mask[i]) for i in key},
            {
                names[i]: (hidden(row[i], mask[i]), hidden(row[count + i], mask[i]))
                for i in every
                if row[2 * count + i]
            },
        )
        for row in rows
    ]
