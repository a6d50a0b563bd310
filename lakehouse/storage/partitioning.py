"""How a table's files are divided: by one date column, or not at all."""

from typing import TYPE_CHECKING

from pyiceberg.expressions import AlwaysFalse, AlwaysTrue, BooleanExpression
from pyiceberg.types import DateType

from lakehouse.storage.errors import SchemaConflictError, StorageError

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table, Transaction
    from pyiceberg.table.metadata import TableMetadata

    from lakehouse.storage.tables import TableSpec


def refuse_bad_partitioning(spec: "TableSpec", incoming: "Schema") -> None:
    """Refuse a partition column that the rows lack or that is no date.

    Raises:
        SchemaConflictError: naming the column.
    """
    if spec.partition_by is None:
        return
    kinds = {field.name: field.field_type for field in incoming.fields}
    if kinds.get(spec.partition_by) != DateType():
        found = f"is {kinds[spec.partition_by]}" if spec.partition_by in kinds else "is not among the rows"
        raise SchemaConflictError(
            f"{spec.name} is to be partitioned by {spec.partition_by}, which {found}: it has to be a date."
        )


def refuse_other_partitioning(metadata: "TableMetadata", spec: "TableSpec") -> None:
    """Refuse a write whose partitions are not the table's.

    Raises:
        SchemaConflictError: saying what the table is partitioned by.
    """
    if (current := _partition_columns(metadata)) != _wanted_columns(spec):
        raise SchemaConflictError(
            f"{spec.name} is partitioned by {', '.join(current) or 'nothing'}, but this write by "
            f"{spec.partition_by or 'nothing'}. Write it once with `replace` to change that."
        )


def repartition(transaction: "Transaction", spec: "TableSpec") -> None:
    """Partition the table's files from now on as the spec says."""
    current = _partition_columns(transaction.table_metadata)
    if current == _wanted_columns(spec):
        return
    with transaction.update_spec() as update:
        for name in current:
            update.remove_field(name)
        if spec.partition_by:
            update.add_identity(spec.partition_by)


def files_of(table: "Table | None", rows: BooleanExpression, spec: "TableSpec") -> list["DataFile"]:
    """The data files that hold these rows and no others.

    Raises:
        StorageError: a file holds other rows too.
    """
    if table is None or rows == AlwaysFalse():
        return []
    tasks = list(table.scan(row_filter=rows).plan_files())
    straddling = [task.file.file_path for task in tasks if task.residual != AlwaysTrue()]
    if straddling:
        raise StorageError(
            f"{spec.name} has files with rows of other partitions too, such as {straddling[0]}. "
            f"It is not partitioned by {spec.partition_by}: rebuild the table with `replace`."
        )
    return [task.file for task in tasks]


def _partition_columns(metadata: "TableMetadata") -> list[str]:
    return [field.name for field in metadata.spec().fields]


def _wanted_columns(spec: "TableSpec") -> list[str]:
    return [spec.partition_by] if spec.partition_by else []
