"""Files written before their commit begins, which it takes as they are if they still fit.

So extracted rows are written once. Each file says in its own metadata for which schema it was
written: where the table's has become another meanwhile, the rows are staged from the file instead.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pyiceberg.schema import Schema

from lakehouse.storage.staging import StagedFile, discarded_on_error, select_as, stage
from lakehouse.storage.tables import TableSpec, begin
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow.parquet import FileMetaData  # type: ignore[import-untyped]
    from pyiceberg.catalog import Catalog

SCHEMA_KEY = "lakehouse.schema"
WRITER = "DuckDB"  # as a footer names it; what dlt wrote anew kept the rest of the footer


@dataclass(frozen=True)
class Prestager:
    """Writes files for one coming commit.

    Args:
        evolve: how the table's schema will follow the rows.
    """

    catalog: "Catalog"
    spec: TableSpec
    evolve: Callable[..., Schema]
    planned: dict[str, Schema] = field(default_factory=dict)

    def prestage(
        self, connection: "DuckDBPyConnection", query: str, folder: Path, incoming: Schema | None = None
    ) -> list[StagedFile]:
        """Write a query's rows below a folder as the table's data files would be, were it committed now.

        Args:
            incoming: the query's columns, if they are known.

        Raises:
            SchemaConflictError, UnsupportedTypeError: the table cannot hold the rows.
            PartitionMismatchError: a row's partition column is null.
            duckdb.Error: the query failed. No file is left in any of these cases.
        """
        incoming = incoming or to_iceberg_schema(describe(connection, query))
        schema = self._plan(incoming)
        return stage(
            connection,
            select_as(query, schema, incoming.column_names),
            schema,
            str(folder),
            partition_by=self.spec.partition_by,
            sort_by=self.spec.sort_by,
            metadata={SCHEMA_KEY: schema.model_dump_json()},
        )

    def _plan(self, incoming: Schema) -> Schema:
        """The table's schema as these rows would make it; asked once for all files with the same columns."""
        columns = incoming.model_dump_json()
        if columns not in self.planned:
            _, transaction = begin(self.catalog, self.spec, incoming)
            self.planned[columns] = self.evolve(transaction, incoming, self.spec)
        return self.planned[columns]


def adopt(
    paths: Sequence[str], spec: TableSpec, schema: Schema, location: str, partitions: Sequence[date] | None
) -> list[StagedFile] | None:
    """Link prestaged files into a table's location; None if any was not written for this schema.

    Args:
        partitions: those that are wanted, None for all; files of others are passed over.
    """
    from pyarrow.parquet import read_metadata

    footers = {path: footer for path in paths if (footer := read_metadata(path)).num_rows}
    if not footers or not all(_fits(footer, schema) for footer in footers.values()):
        return None
    folder = Path(location) / "data" / str(uuid.uuid4())
    adopted: list[StagedFile] = []
    with discarded_on_error(adopted):
        for number, (path, footer) in enumerate(footers.items()):
            partition = _partition(footer, spec.partition_by)
            if partitions is None or partition in partitions:
                target = folder / str(partition or "") / f"{number}.parquet"
                adopted.append(StagedFile(str(target), footer.num_rows, partition))
                link(Path(path), target)
    return adopted


def _fits(footer: "FileMetaData", schema: Schema) -> bool:
    """Whether each column of the file is the table's: its name, type and field id."""
    written_for = (footer.metadata or {}).get(SCHEMA_KEY.encode())
    if written_for is None or not footer.created_by.startswith(WRITER):
        return False
    fields = {field.field_id: field for field in schema.fields}
    return all(
        field.field_id in fields
        and fields[field.field_id].name == field.name
        and fields[field.field_id].field_type == field.field_type
        for field in Schema.model_validate_json(written_for).fields
    )


def _partition(footer: "FileMetaData", partition_by: str | None) -> date | None:
    """The partition of a file; prestaging wrote none with two."""
    if partition_by is None:
        return None
    group = footer.row_group(0)
    columns = (group.column(index) for index in range(group.num_columns))
    value = next(column.statistics.min for column in columns if column.path_in_schema == partition_by)
    assert isinstance(value, date)
    return value


def link(file: Path, target: Path) -> None:
    """Give a file, from now on, a second name, or copy it to another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(file)
        os.utime(target)  # maintenance goes by the age of what no snapshot names
    except OSError:
        shutil.copyfile(file, target)
