"""Taking partitions out of a table: planned first, then done in one commit, which a rollback undoes."""

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.catalog import open_catalog
from lakehouse.profile_again import profile_again
from lakehouse.quality.gates import rows_by_partition
from lakehouse.query_errors import QueryError
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.rewriting import NoRows
from lakehouse.storage.tables import TableSpec, load_table

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from lakehouse.settings import Settings

BY = "lakehouse.by"  # in the summary of the snapshot: who did it


@dataclass(frozen=True)
class Wipe:
    """What wiping partitions of a table comes to, before it is done.

    Args:
        rows: of each partition that the table has; those of the ones asked for that it has not are not in it.
        snapshot_id: the table's current snapshot, to which a rollback undoes it.
    """

    table: str
    rows: Mapping[date, int]
    snapshot_id: int | None


def plan(settings: "Settings", table: str, partitions: Collection[date] | None) -> Wipe:
    """What the table has of these partitions, or (None) of all.

    Raises:
        QueryError: there is no such table, or it has no partitions.
    """
    loaded = _partitioned(load_table(open_catalog(settings), table), table)
    rows = rows_by_partition(loaded)
    wanted = rows if partitions is None else rows.keys() & partitions
    held = {day: rows[day] for day in sorted(wanted)}
    return Wipe(table, held, loaded.metadata.current_snapshot_id)


def carry_out(settings: "Settings", planned: Wipe, by: str) -> list[str]:
    """Take the planned partitions out in one commit; returns what is to be said of it.

    Rows that another run writes to them meanwhile go too; other partitions stay as they are.

    Raises:
        StorageError: the table could not be written and is as it was.
    """
    if not planned.rows:
        return []
    catalog = open_catalog(settings)
    table = _partitioned(load_table(catalog, planned.table), planned.table)
    partition_by = table.schema().find_column_name(table.spec().fields[0].source_id)
    spec = TableSpec(planned.table, partition_by, keep_snapshots=settings.keep_snapshots)
    with contextlib.closing(duckdb_session.connect(settings)) as connection:
        nothing = NoRows(connection, table.schema())
        write.overwrite_partitions(catalog, spec, nothing, sorted(planned.rows), {RUN_ID: "wipe", BY: by})
    return profile_again(settings, catalog, planned.table, planned.rows, "wipe")


def _partitioned(table: "Table | None", name: str) -> "Table":
    if table is None:
        raise QueryError(f"There is no table {name}: `lakehouse tables` lists those that there are.")
    if table.spec().is_unpartitioned():
        raise QueryError(
            f"{name} has no partitions: it is replaced or merged into as a whole. Set it back with "
            "`lakehouse rollback`, or materialize it again."
        )
    return table
