"""Merging by key: new rows take the place of those with their key, in one commit.

Only files that hold a touched key are written again; the others stay as they are. What a merge
replaces depends on the table, so each attempt of its commit merges anew with what is there then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, GreaterThanOrEqual, LessThanOrEqual
from pyiceberg.types import BooleanType, DecimalType, DoubleType, FloatType, IntegerType, LongType

from lakehouse.storage.data_files import files_that_may_hold, read_files
from lakehouse.storage.errors import MissingKeyError, StorageError
from lakehouse.storage.scratch import scratch_file, scratch_table
from lakehouse.storage.sql import identifier
from lakehouse.storage.staged_write import StagedWrite, refuse_if_judged_bad
from lakehouse.storage.staging import Audit, RowSource, select_as, stage
from lakehouse.storage.tables import TableSpec

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


POSITION = "lakehouse_position_in_batch"


@dataclass(frozen=True)
class MergeKey:
    """How rows of one thing are told from another's, and which of them counts.

    Args:
        columns: the key. A row without one of them is refused.
        cursor: of several rows of a key the one with the greatest cursor wins, the table's included;
            of equal ones, and without a cursor, the last of the batch.
        deleted: a column that marks a row as the deletion of its key: true, a number but 0,
            or (text, times) anything but null.
    """

    columns: tuple[str, ...]
    cursor: str | None = None
    deleted: str | None = None

    def __post_init__(self) -> None:
        if not self.columns:
            raise StorageError("A merge needs a key: name the columns that tell one row from another.")

    def joined(self, left: str, right: str) -> str:
        """The join condition of two relations with the key."""
        return " and ".join(f"{left}.{identifier(c)} = {right}.{identifier(c)}" for c in self.columns)

    def listed(self) -> str:
        """The key's columns for a select list."""
        return ", ".join(map(identifier, self.columns))


@dataclass(frozen=True)
class Merger:
    """Stages a merge against the table as it is.

    Args:
        strategy: `upsert` replaces rows of a key that exists, `insert_only` leaves them.
        audit: judges the files that are written, with all rows they hold, before they are published.
    """

    spec: TableSpec
    source: RowSource
    key: MergeKey
    strategy: Literal["upsert", "insert_only"]
    audit: Audit | None = None
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the new rows, and again what the touched files hold besides.

        Raises:
            MissingKeyError: rows lack a column of the key.
            duckdb.Error, StorageError: nothing was written.
        """
        self._refuse_unknown_columns(present)
        connection = self.source.connection
        numbered = (
            f"select *, row_number() over () as {POSITION}"
            f" from ({select_as(self.source.query(None), schema, present)}\n)"
        )
        with (
            scratch_file(connection, numbered) as batch,
            scratch_table(connection) as changes,
            scratch_table(connection) as hits,
        ):
            taken = self._count_refusing_missing_keys(batch)
            self._choose(batch, changes)
            touched = self._touched(changes, hits, schema, base) if base else []
            files = stage(
                connection,
                self._rows(batch, changes, touched, schema, base),
                schema,
                location,
                partition_by=self.spec.partition_by,
                sort_by=self.spec.sort_by,
            )
        refuse_if_judged_bad(self.spec, self.audit, files)
        return StagedWrite(files, None, {}, removed=touched, merged=taken)

    def _rows(
        self,
        batch: str,
        changes: str,
        touched: Sequence["DataFile"],
        schema: "Schema",
        base: "Table | None",
    ) -> str:
        """The rows to write: the changes, and what else the touched files hold."""
        columns = ", ".join(identifier(field.name) for field in schema.fields)
        rows = (
            f"select {columns} from {batch} where {POSITION} in (select {POSITION} from {changes})"
            f" and not {self._is_deletion(schema)}"
        )
        if base is None or not touched:
            return rows
        kept = ", ".join(f"kept.{identifier(field.name)}" for field in schema.fields)
        return (
            f"select {kept} from {read_files(base, touched, schema)} as kept"
            f" anti join {changes} as changes on {self.key.joined('kept', 'changes')}"
            f" union all {rows}"
        )

    def _choose(self, batch: str, changes: str) -> None:
        """Keep of each key the newest row of the batch: its key, cursor and position."""
        cursor = [self.key.cursor] if self.key.cursor else []
        columns = ", ".join(map(identifier, dict.fromkeys([*self.key.columns, *cursor])))
        newest = "".join(f"{identifier(name)} desc nulls last, " for name in cursor)
        self.source.connection.execute(
            f"create temp table {changes} as select {columns}, {POSITION} from {batch} qualify row_number()"
            f" over (partition by {self.key.listed()} order by {newest}{POSITION} desc) = 1"
        )

    def _count_refusing_missing_keys(self, batch: str) -> int:
        counts = ", ".join(f"count({identifier(column)})" for column in self.key.columns)
        taken, *present = self.source.connection.execute(
            f"select count(*), {counts} from {batch}"
        ).fetchall()[0]
        for column, count in zip(self.key.columns, present, strict=True):
            if count < taken:
                raise MissingKeyError(
                    f"{self.spec.name}: {taken - count} rows have no {column}, which is (part of) the key "
                    f"({', '.join(self.key.columns)}). Leave them out, or give them one."
                )
        return int(taken)

    def _touched(self, changes: str, hits: str, schema: "Schema", base: "Table") -> list["DataFile"]:
        """The files whose rows are replaced; takes out of the changes what does not count."""
        connection = self.source.connection
        columns = [*self.key.columns, *([self.key.cursor] if self.key.cursor else [])]
        lacking = [name for name in self.key.columns if name not in base.schema().column_names]
        if lacking:
            raise StorageError(f"{self.spec.name} has no column {', '.join(lacking)} to merge by.")
        candidates = files_that_may_hold(base, self._range(connection, changes))
        if not candidates:
            return []
        newer = "false"
        if self.key.cursor:
            cursor = identifier(self.key.cursor)  # null is older than any other
            newer = f"coalesce(held.{cursor} > changes.{cursor}, held.{cursor} is not null)"
        wins = "true" if self.strategy == "insert_only" else newer
        keys = ", ".join(f"held.{identifier(column)}" for column in self.key.columns)
        connection.execute(
            f"create temp table {hits} as select {keys}, held.filename as filename, {wins} as held_wins"
            f" from {read_files(base, candidates, schema, columns)} as held"
            f" join {changes} as changes on {self.key.joined('held', 'changes')}"
        )
        connection.execute(
            f"delete from {changes} as changes using (select * from {hits} where held_wins) as held"
            f" where {self.key.joined('held', 'changes')}"
        )
        paths = {
            path
            for (path,) in connection.execute(
                f"select distinct filename from {hits} where not held_wins"
            ).fetchall()
        }
        return [file for file in candidates if file.file_path in paths]

    def _range(self, connection: "DuckDBPyConnection", changes: str) -> BooleanExpression:
        """What the files with these keys have in common, for their statistics to rule others out."""
        column = self.key.columns[0]
        name = identifier(column)
        low, high = connection.execute(f"select min({name}), max({name}) from {changes}").fetchall()[0]
        if type(low) in (int, str, date):  # not times: PyIceberg takes no zones in an expression
            return And(GreaterThanOrEqual(term=column, value=low), LessThanOrEqual(term=column, value=high))
        return AlwaysTrue()

    def _is_deletion(self, schema: "Schema") -> str:
        if self.key.deleted is None:
            return "false"
        flag = identifier(self.key.deleted)
        kind = schema.find_type(self.key.deleted)
        if kind == BooleanType():
            return f"coalesce({flag}, false)"
        if isinstance(kind, IntegerType | LongType | DecimalType | FloatType | DoubleType):
            return f"coalesce({flag} <> 0, false)"
        return f"({flag} is not null)"

    def _refuse_unknown_columns(self, present: Sequence[str]) -> None:
        wanted = [*self.key.columns, self.key.cursor, self.key.deleted]
        if absent := [name for name in wanted if name is not None and name not in present]:
            raise StorageError(f"{self.spec.name}: the rows have no column {', '.join(absent)} to merge by.")
