"""Which data files two snapshots do not share, and SQL that reads them as their snapshot does.

A file never changes, so the rows of one that both have are in both. Only where a snapshot has
delete files (other engines write them, ours does not) is all of it read.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.diff.columns import has_remade
from lakehouse.diff.errors import DiffError
from lakehouse.storage.data_files import read_files
from lakehouse.storage.scan import iceberg_scan
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.types import to_duckdb_name

if TYPE_CHECKING:
    from datetime import date

    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import FileScanTask, Table
    from pyiceberg.table.snapshots import Snapshot


@dataclass(frozen=True)
class Side:
    """One of the two snapshots.

    Args:
        files: data files that it has, or that it has of the partition asked for.
        read: of these the ones that the other lacks.
        rows: rows of all its files; None: delete files take some away.
        query: SQL of the rows of the files that are read, all columns of the snapshot.
    """

    snapshot: "Snapshot"
    schema: "Schema"
    files: int
    read: int
    rows: int | None
    query: str


def both_sides(
    table: "Table", name: str, old: "Snapshot", new: "Snapshot", partition: "date | None"
) -> tuple[Side, Side]:
    """The two snapshots with what has to be read of each.

    Raises:
        DiffError: a partition is asked for of a table that has none.
    """
    column = _partition_column(table, name) if partition else None
    before, after = (_tasks(table, snapshot, column, partition) for snapshot in (old, new))
    has_deletes = any(task.delete_files for task in (*before.values(), *after.values()))
    all_differ = has_deletes or has_remade(_schema(table, old), _schema(table, new))
    shared = frozenset() if all_differ else frozenset(before.keys() & after.keys())
    where = f"{identifier(column)} = date {literal(partition)}" if column else "true"
    return (
        _side(table, old, before, shared, where, has_deletes=has_deletes),
        _side(table, new, after, shared, where, has_deletes=has_deletes),
    )


def _side(
    table: "Table",
    snapshot: "Snapshot",
    tasks: "dict[str, FileScanTask]",
    shared: "frozenset[str]",
    where: str,
    *,
    has_deletes: bool,
) -> Side:
    schema = _schema(table, snapshot)
    read = [task.file for path, task in tasks.items() if path not in shared]
    rows = None if has_deletes else sum(task.file.record_count for task in tasks.values())
    query = _query(table, snapshot, schema, read, where, has_deletes=has_deletes)
    return Side(snapshot, schema, len(tasks), len(read), rows, query)


def _schema(table: "Table", snapshot: "Snapshot") -> "Schema":
    if snapshot.schema_id is None:  # the first version of the format does not note it
        return table.schema()
    return table.schemas()[snapshot.schema_id]


def _tasks(
    table: "Table", snapshot: "Snapshot", column: str | None, partition: "date | None"
) -> "dict[str, FileScanTask]":
    from pyiceberg.expressions import AlwaysTrue, EqualTo

    wanted = EqualTo(column, partition.isoformat()) if column and partition else AlwaysTrue()  # type: ignore[call-arg, misc]
    scan = table.scan(row_filter=wanted, snapshot_id=snapshot.snapshot_id)
    return {task.file.file_path: task for task in scan.plan_files()}


def _query(
    table: "Table",
    snapshot: "Snapshot",
    schema: "Schema",
    files: "list[DataFile]",
    where: str,
    *,
    has_deletes: bool,
) -> str:
    if not files:
        nothing = ", ".join(
            f"cast(null as {to_duckdb_name(field.field_type)}) as {identifier(field.name)}"
            for field in schema.fields
        )
        return f"select {nothing} where false"
    columns = ", ".join(identifier(field.name) for field in schema.fields)
    if has_deletes or not all(field.field_type.is_primitive for field in schema.fields):
        # `read_parquet` knows neither delete files nor the field ids of what is inside a column.
        source = iceberg_scan(table.metadata_location, snapshot.snapshot_id)
        paths = ", ".join(literal(file.file_path) for file in files)
        return f"select {columns} from {source} where filename in ({paths}) and {where}"
    return f"select {columns} from {read_files(table, files, schema)} where {where}"


def _partition_column(table: "Table", name: str) -> str:
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DateType

    fields = table.spec().fields
    if len(fields) == 1 and isinstance(fields[0].transform, IdentityTransform):
        column = table.schema().find_field(fields[0].source_id)
        if column.field_type == DateType():
            return column.name
    raise DiffError(f"{name} has no partitions by a date: leave --partition out.")
