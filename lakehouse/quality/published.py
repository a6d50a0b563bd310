"""The rows that a table has of each partition, as they are read to be judged again."""

from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING

from lakehouse.storage.data_files import read_files
from lakehouse.storage.scan import scan
from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from pyiceberg.table import FileScanTask, Table

EPOCH = date(1970, 1, 1)


def published_rows(table: "Table", partition_by: str | None) -> dict[date | None, str]:
    """SQL of the rows of each partition that there is, or (None) of a table without partitions.

    Each reads its own files: the Iceberg reader looks through those of all partitions every time.
    """
    everything = scan(table.metadata_location, table.metadata.current_snapshot_id)
    if partition_by is None:
        return {None: everything}
    columns = ", ".join(identifier(field.name) for field in table.schema().fields)
    rows: dict[date | None, str] = {}
    for day, tasks in sorted(_by_partition(table).items()):
        if any(task.delete_files for task in tasks):  # which another tool wrote
            rows[day] = f"{everything} where {identifier(partition_by)} = date {literal(day)}"
        else:
            files = read_files(table, [task.file for task in tasks], table.schema())
            rows[day] = f"select {columns} from {files}"
    return rows


def _by_partition(table: "Table") -> "dict[date, list[FileScanTask]]":
    tasks: dict[date, list[FileScanTask]] = defaultdict(list)
    for task in table.scan().plan_files():
        value = task.file.partition[0]
        tasks[value if isinstance(value, date) else EPOCH + timedelta(days=value)].append(task)
    return tasks
