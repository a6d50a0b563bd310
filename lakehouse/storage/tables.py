"""Tables and their creation: what is fixed when a table is first written."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchTableError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.table import Transaction
from pyiceberg.table.update import AssertCurrentSchemaId, AssertDefaultSpecId
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, TimestampType, TimestamptzType

from lakehouse.storage.partitioning import refuse_bad_partitioning

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata

# A table's metadata names every snapshot, and each commit writes it anew.
KEEP_SNAPSHOTS = 100

TIMES = (DateType, TimestampType, TimestamptzType)

DEFAULT_PROPERTIES = {
    "format-version": "2",
    # For other engines: four retries, the default, run out when a wide backfill commits to one table.
    "commit.retry.num-retries": "20",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
    # `lakehouse maintain` removes old ones: a commit would take them from readers that began with them.
    "write.metadata.delete-after-commit.enabled": "false",
    "write.metadata.previous-versions-max": "100",
}


@dataclass(frozen=True)
class TableSpec:
    """What a table is, apart from its columns.

    Args:
        name: `layer.table`, for example `silver.flights`.
        partition_by: a date column; each of its values is one partition.
        sort_by: columns that the rows of a file are sorted by, for readers to skip row groups.
        keep_snapshots: how many snapshots its history has at most.
        ranged: columns that rows are looked for by, besides those two and the times.
    """

    name: str
    partition_by: str | None = None
    sort_by: tuple[str, ...] = ()
    keep_snapshots: int = KEEP_SNAPSHOTS
    ranged: tuple[str, ...] = ()


class _QuickTransaction(Transaction):
    """A transaction that works out its metadata once after each change, not at each look.

    PyIceberg copies the whole metadata, with every snapshot, dozens of times in a commit.
    """

    _seen: "tuple[object, TableMetadata] | None" = None

    @property
    def table_metadata(self) -> "TableMetadata":
        """The table's metadata as the changes so far make it."""
        if self._seen is None or self._seen[0] is not self._updates:
            self._seen = (self._updates, super().table_metadata)
        return self._seen[1]


def load_table(catalog: "Catalog", name: str) -> "Table | None":
    """The table at its current snapshot, or None where there is none."""
    try:
        return catalog.load_table(name)
    except NoSuchTableError:
        return None


def begin(catalog: "Catalog", spec: TableSpec, incoming: "Schema") -> tuple["Table | None", "Transaction"]:
    """Begin a transaction on a table, or on one that the commit will create.

    Until the commit a new table does not exist, so a failed first write leaves none behind.

    Raises:
        SchemaConflictError: the rows cannot be partitioned as the spec says.
    """
    refuse_bad_partitioning(spec, incoming)
    table = load_table(catalog, spec.name)
    if table is not None:
        # Retries are the writer's, for the rows may have to be staged anew; PyIceberg's own retry
        # would commit files with the columns of an older schema. (This changes no stored property.)
        table.metadata.properties["commit.retry.num-retries"] = "0"
        transaction = _QuickTransaction(table)
        # Without these a write that changes no column would land on columns that another has changed.
        transaction._apply(
            (),
            (
                AssertCurrentSchemaId(current_schema_id=table.metadata.current_schema_id),
                AssertDefaultSpecId(default_spec_id=table.metadata.default_spec_id),
            ),
        )
        return table, transaction
    _ensure_namespace(catalog, spec.name.split(".")[0])
    partitioning = UNPARTITIONED_PARTITION_SPEC
    if spec.partition_by:
        source = incoming.find_field(spec.partition_by)
        partitioning = PartitionSpec(
            PartitionField(source.field_id, 1000, IdentityTransform(), spec.partition_by)
        )
    creation = catalog.create_table_transaction(
        spec.name, incoming, partition_spec=partitioning, properties=_properties(spec, incoming)
    )
    return None, creation


def _properties(spec: TableSpec, incoming: "Schema") -> dict[str, str]:
    """What a new table is told.

    Whoever reads one of many partitions reads what is said of the files of all: in DuckDB 1.5.5
    most of that time goes to the ranges of columns. So a file of a partitioned table states those
    that rule files out; each Parquet file's own footer states all.
    """
    if spec.partition_by is None:
        return DEFAULT_PROPERTIES
    times = (field.name for field in incoming.fields if isinstance(field.field_type, TIMES))
    ranged = dict.fromkeys([spec.partition_by, *spec.sort_by, *spec.ranged, *times])
    stated = {f"write.metadata.metrics.column.{name}": "truncate(16)" for name in ranged}
    return {**DEFAULT_PROPERTIES, "write.metadata.metrics.default": "none", **stated}


def _ensure_namespace(catalog: "Catalog", namespace: str) -> None:
    """Create a namespace; of several writers that do so at once, none fails."""
    from sqlalchemy.exc import IntegrityError

    with suppress(NamespaceAlreadyExistsError, IntegrityError):  # another writer was first
        catalog.create_namespace_if_not_exists(namespace)
