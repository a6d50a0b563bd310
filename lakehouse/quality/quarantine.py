"""Quarantine: rows and values that a table does not take, kept with the reason in `quarantine.<table>`.

They are written before the table's own commit, so that none is lost if the process ends between
the two. What a load set aside that was never published goes when the load is done again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from lakehouse.storage import write
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.loads import holding
from lakehouse.storage.removal import remove_rows
from lakehouse.storage.scan import scan
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import QueryRows
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

LAYER = "quarantine"
ROW, VALUE = "row", "value"

# What is said of each; the load's own columns are added when it is written.
COLUMNS: Mapping[str, str] = {
    "partition": "date",  # that was being loaded
    "scope": "varchar",  # row: it is not in the table; value: the row is, with null in its place
    "rule": "varchar",  # unreadable, type, new_column, name_collision, no_key, or a check of the contract
    "column_name": "varchar",
    "value": "varchar",
    "reason": "varchar",
    "raw": "varchar",  # the row: JSON, each value as text; of an unreadable line, the line
    "source_file": "varchar",
    "source_row": "bigint",  # the line of the file on which it begins; of a batch, the row, from 1
    "contract_version": "varchar",  # of the contract whose rule it broke
}
# Of these, what is not told of a row but of its load.
GIVEN = ("partition", "scope", "contract_version")
# What makes two of them the same, whichever load brought them.
SAME = ("partition", "scope", "rule", "column_name", "value", "raw", "source_file", "source_row")
# A row that was judged holds what its load added, and comes by another load each time.
_AS_IT_CAME = {
    "raw": "case when json_valid(raw)"
    """ then json_merge_patch(raw, '{"_load_id": null, "_loaded_at": null}') else raw end"""
}


@dataclass
class Quarantined:
    """What one load sets aside, until it is written.

    Args:
        rows: rows set aside, by partition; a row of which only values were is not counted.
        values: single values set aside, by partition.
        contract_version: of the contract that they do not fit.
    """

    connection: "DuckDBPyConnection"
    contract_version: str = ""
    rows: dict[date | None, int] = field(default_factory=dict)
    values: dict[date | None, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        self.connection.execute(f"create table if not exists set_aside ({columns})")

    @property
    def relation(self) -> str:
        """What was set aside, for any cursor: one forgets which database the connection uses."""
        [(database,)] = self.connection.execute("select current_database()").fetchall()
        return f"{identifier(database)}.main.set_aside"

    def __bool__(self) -> bool:
        return any(self.rows.values()) or any(self.values.values())

    def add(self, partition: date | None, query: str, scope: str = ROW) -> int:
        """Set aside what a query gives: `COLUMNS` but `GIVEN`. Returns how many."""
        columns = ", ".join(name for name in COLUMNS if name not in GIVEN)
        day = f"date {literal(partition)}" if partition else "null"
        [(added,)] = self.connection.execute(
            f"insert into set_aside by name select {day} as partition, {literal(scope)} as scope, {columns},"
            f" nullif({literal(self.contract_version)}, '') as contract_version from ({query})"
        ).fetchall()
        if added:
            counts = self.rows if scope == ROW else self.values
            counts[partition] = counts.get(partition, 0) + int(added)
        return int(added)

    def forget(self, partition: date | None) -> None:
        """Drop what was set aside of a partition that is not loaded after all."""
        self.connection.execute("delete from set_aside where partition is not distinct from ?", [partition])
        self.rows.pop(partition, None)
        self.values.pop(partition, None)


def quarantine_of(table: str) -> str:
    """The table that holds what a table does not take: of Bronze under its own name, else the layer's too."""
    layer, _, name = table.partition(".")
    return f"{LAYER}.{name if layer == 'bronze' else f'{layer}_{name}'}"


def table_of(quarantine: str) -> str:
    """The table whose rows a table of quarantine holds."""
    name = quarantine.partition(".")[2]
    layer, _, rest = name.partition("_")
    return f"{layer}.{rest}" if layer in ("silver", "gold") and rest else f"bronze.{name}"


@dataclass(frozen=True)
class Quarantine:
    """The quarantine of one table in one load.

    Args:
        table: `layer.table`, whose rows these would be.
    """

    catalog: "Catalog"
    table: str
    load_id: str
    run_id: str
    keep_snapshots: int

    @property
    def spec(self) -> TableSpec:
        """The table that holds them."""
        return TableSpec(quarantine_of(self.table), keep_snapshots=self.keep_snapshots)

    def write(self, quarantined: Quarantined, at: datetime) -> None:
        """Add what a load set aside, in one commit; nothing if that was nothing.

        Raises:
            StorageError: nothing was written.
        """
        if not quarantined:
            return
        rows = QueryRows(
            quarantined.connection.cursor(),
            f"select *, {literal(self.load_id)} as load_id, {literal(self.run_id)} as run_id,"
            f" timestamptz {literal(at.isoformat())} as quarantined_at from {quarantined.relation}",
        )
        rows.connection.execute("set TimeZone = 'UTC'")
        write.append(self.catalog, self.spec, rows, self.load_id, {RUN_ID: self.run_id})

    def count(self, connection: "DuckDBPyConnection") -> dict[date | None, int]:
        """Rows that quarantine holds, by partition; None: of a table that has none."""
        table = load_table(self.catalog, self.spec.name)
        if table is None:
            return {}
        rows = scan(table.metadata_location, table.metadata.current_snapshot_id)
        counted = f"select partition, count(*) from ({rows}) where scope = ? group by all"
        return dict(connection.execute(counted, [ROW]).fetchall())

    def settle(
        self,
        connection: "DuckDBPyConnection",
        published: Sequence[date] | None,
        failed: Sequence[date] = (),
        *,
        adds: bool = False,
    ) -> None:
        """Keep of earlier loads what still holds now that this one is published.

        Args:
            published: partitions that the load replaced; None: the whole table.
            failed: partitions that it did not publish after all.
            adds: the load added to the table. Then earlier loads stay, but for what one that was
                never published had set aside and this one sets aside again.
        """
        if load_table(self.catalog, self.spec.name) is None:
            return
        # A load that began later is settling by itself, or not there yet.
        earlier = (
            f"load_id <> {literal(self.load_id)} and try_cast(load_id as double) < {float(self.load_id)}"
        )
        if adds:
            gone = self._unpublished(connection, earlier)
        elif published is None:
            gone = earlier
        else:
            gone = f"({_among(published)} and {earlier})"
            gone += f" or ({_among(failed)} and load_id = {literal(self.load_id)})"
        if gone:
            remove_rows(self.catalog, self.spec, connection, gone, {RUN_ID: self.run_id})

    def _unpublished(self, connection: "DuckDBPyConnection", earlier: str) -> str | None:
        """Rows of loads that the table does not hold, if this load brought the same ones."""
        held, mine = load_table(self.catalog, self.table), load_table(self.catalog, self.spec.name)
        if held is None or mine is None:
            return None
        rows = scan(mine.metadata_location, mine.metadata.current_snapshot_id)
        loads = connection.execute(f"select distinct load_id from ({rows}) where {earlier}").fetchall()
        unpublished = [load for (load,) in loads if holding(held.metadata, load) is None]
        if not unpublished:
            return None
        of_loads = f"load_id in ({', '.join(map(literal, unpublished))})"
        same = ", ".join(f"coalesce(cast({_AS_IT_CAME.get(name, name)} as varchar), '')" for name in SAME)
        again = f"select {same} from ({rows}) where load_id = {literal(self.load_id)}"
        return f"({of_loads} and ({same}) in ({again}))"


def _among(partitions: Sequence[date]) -> str:
    if not partitions:
        return "false"
    return f"partition in ({', '.join(f'date {literal(day)}' for day in partitions)})"
