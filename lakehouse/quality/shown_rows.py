"""What the names of tables stand for while a write is judged: its rows, and the tables it refers to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.storage.scan import pin_current
from lakehouse.storage.sql import identifier, literal, qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.table import Table

    from lakehouse.quality.contract import Contract
    from lakehouse.storage.staging import StagedFile

JUDGED = "lakehouse_judged"
MANY_ROWS = 100_000  # too many to hold beside what else a load holds


def relation_of(files: "Sequence[StagedFile]") -> str:
    """The query of all rows of staged files."""
    paths = ", ".join(literal(file.path) for file in files)
    return f"select * from read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"


@dataclass(frozen=True)
class ShownRows:
    """The names of one contract's tables, in a connection of its own.

    Few rows are copied into memory: each check would open their files, which takes longer than the check.
    """

    contract: "Contract"
    connection: "DuckDBPyConnection"

    def hold(self, relation: str) -> str:
        """Copy rows into memory; returns the query of the copy."""
        self.connection.execute(f"create or replace table main.{JUDGED} as {relation}")
        return f"select * from main.{JUDGED}"

    def show(self, relation: str | None, rows: int, *, held: bool) -> str:
        """Let the table's name be the rows of a query (None: no rows); returns the query of that name.

        Args:
            held: whether they are in memory already.
        """
        if relation is None:
            columns = ", ".join(
                f"cast(null as {column.type}) as {identifier(column.name)}"
                for column in self.contract.columns
            )
            relation = f"select {columns} where false"
        elif rows < MANY_ROWS and not held:
            relation = self.hold(relation)
        name = self.contract.table
        self.connection.execute(f"create schema if not exists {identifier(name.partition('.')[0])}")
        self.connection.execute(f"create or replace view {qualified(name)} as {relation}")
        return f"select * from {qualified(name)}"

    def pin(self, name: str, table: "Table") -> None:
        """Let a name be a table as it is now."""
        pin_current(self.connection, table)
        snapshot = table.current_snapshot()
        summary = snapshot.summary.additional_properties if snapshot and snapshot.summary else {}
        if int(summary.get("total-records", MANY_ROWS)) < MANY_ROWS:
            copy = f"main.{identifier(f'lakehouse_{name}')}"
            self.connection.execute(f"create or replace table {copy} as from {qualified(name)}")
            self.connection.execute(f"create or replace view {qualified(name)} as from {copy}")
