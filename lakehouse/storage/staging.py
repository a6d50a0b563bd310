"""Staging: rows become Parquet data files that no reader sees until they are committed.

DuckDB writes the files, streaming and within its memory limit, with the table's field ids in
them. (A file registered without field ids goes wrong after the schema evolves: `docs/iceberg.md`.)
"""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from lakehouse.storage.errors import PartitionMismatchError
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.types import field_ids, to_duckdb_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata

logger = logging.getLogger(__name__)

# Judges staged rows: the partitions that must not be published (None: the whole write) and why.
Audit = Callable[[Sequence["StagedFile"]], Mapping[date | None, str]]
# Tells which rows of staged files are not to be published: by path the SQL condition that they meet.
# Whoever tells has to keep them elsewhere.
Sift = Callable[[Sequence["StagedFile"]], Mapping[str, str]]

# Large enough to read at full speed, small enough to be written again for one changed row.
FILE_SIZE = "256MB"
LARGEST_FILE_BYTES = 512 * 10**6


@dataclass(frozen=True)
class StagedFile:
    """A Parquet file that is written but not committed."""

    path: str
    rows: int
    partition: date | None = None


class RowSource(Protocol):
    """Where the rows of a write come from: a query on a DuckDB connection."""

    @property
    def connection(self) -> "DuckDBPyConnection":
        """The connection that the query runs on."""

    def query(self, partitions: Sequence[date] | None) -> str:
        """The SQL of these partitions' rows, or of all rows; may prepare the connection."""


@dataclass(frozen=True)
class QueryRows:
    """All rows of a query, of a table without partitions."""

    connection: "DuckDBPyConnection"
    sql: str

    def query(self, partitions: Sequence[date] | None) -> str:
        """The query."""
        return self.sql


def select_as(query: str, schema: "Schema", present: Sequence[str]) -> str:
    """The query's rows with the table's columns, order and types; absent columns are null."""
    columns = ",\n    ".join(
        f"cast({identifier(f.name) if f.name in present else 'null'}"
        f" as {to_duckdb_name(f.field_type, f.name)}) as {identifier(f.name)}"
        for f in schema.fields
    )
    return f"select\n    {columns}\nfrom ({query}\n) as staged_rows"


def stage(
    connection: "DuckDBPyConnection",
    query: str,
    schema: "Schema",
    location: str,
    *,
    partition_by: str | None = None,
    sort_by: Sequence[str] = (),
    metadata: Mapping[str, str] | None = None,
) -> list[StagedFile]:
    """Write a query's rows as data files below a table's location.

    Args:
        metadata: what each file is to say in its footer.

    Raises:
        duckdb.Error: the query failed; what it had written is removed.
        PartitionMismatchError: a row's partition column is null; nothing is left behind.
    """
    folder = Path(location) / "data" / str(uuid.uuid4())
    options = _options(schema)
    if metadata:
        pairs = ", ".join(f"{identifier(key)}: {literal(value)}" for key, value in metadata.items())
        options.append(f"kv_metadata {{{pairs}}}")
    if sort_by:
        query += "\norder by " + ", ".join(identifier(name) for name in (partition_by, *sort_by) if name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        files = _copy(connection, query, folder, options, partition_by)
        files = [part for file in files for part in _split(connection, file, options)]
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if not files:
        shutil.rmtree(folder, ignore_errors=True)
    return files


def _options(schema: "Schema") -> list[str]:
    return ["format parquet", "compression zstd", f"field_ids {field_ids(schema)}", "return_stats"]


def _copy(
    connection: "DuckDBPyConnection",
    query: str,
    folder: Path,
    options: Sequence[str],
    partition_by: str | None,
) -> list[StagedFile]:
    """Write a query's rows into a folder that is not there yet: a file a partition, or of a size."""
    division = (
        f"partition_by ({identifier(partition_by)}), write_partition_columns"
        if partition_by
        else f"file_size_bytes {literal(FILE_SIZE)}"
    )
    written = connection.execute(
        f"copy ({query}) to {literal(folder)} ({', '.join(options)}, {division})"
    ).fetchall()
    for path, rows, *_ in written:
        if rows == 0:  # DuckDB begins files that it then has nothing for
            Path(path).unlink()
    return [_staged_file(row[0], row[1], row[5], partition_by) for row in written if row[1] > 0]


def _split(
    connection: "DuckDBPyConnection", file: StagedFile, options: Sequence[str]
) -> Iterator[StagedFile]:
    """Divide what a large partition came to: DuckDB takes no size where it divides by a column."""
    path = Path(file.path)
    if path.stat().st_size <= LARGEST_FILE_BYTES:
        yield file
        return
    rows = f"from read_parquet({literal(path)}, hive_partitioning = false)"
    for part in _copy(connection, rows, path.with_suffix(""), options, None):
        yield StagedFile(part.path, part.rows, file.partition)
    path.unlink()


def to_data_files(io: "FileIO", metadata: "TableMetadata", files: Sequence[StagedFile]) -> list["DataFile"]:
    """Describe staged files for a commit, with the statistics that let readers skip them."""
    from pyiceberg.io.pyarrow import parquet_file_to_data_file

    return [parquet_file_to_data_file(io, metadata, file.path) for file in files]


def without(
    connection: "DuckDBPyConnection",
    file: StagedFile,
    condition: str,
    schema: "Schema",
    sort_by: Sequence[str] = (),
) -> list[StagedFile]:
    """Write a staged file again without the rows that meet a condition, and remove it."""
    path = Path(file.path)
    rows = select_as(
        f"from read_parquet({literal(path)}, hive_partitioning = false) where ({condition}) is not true",
        schema,
        [field.name for field in schema.fields if field.name in _columns(connection, path)],
    )
    if sort_by:
        rows += "\norder by " + ", ".join(map(identifier, sort_by))
    kept = _copy(connection, rows, path.with_suffix(".kept"), _options(schema), None)
    discard([file])
    return [StagedFile(part.path, part.rows, file.partition) for part in kept]


def _columns(connection: "DuckDBPyConnection", path: Path) -> set[str]:
    described = connection.execute(
        f"describe from read_parquet({literal(path)}, hive_partitioning = false)"
    ).fetchall()
    return {name for name, *_ in described}


def discard(files: Sequence[StagedFile]) -> None:
    """Remove staged files that will not be committed."""
    for file in files:
        try:
            Path(file.path).unlink(missing_ok=True)
        except OSError:
            logger.warning("Could not remove the staged file %s; no table refers to it.", file.path)


@contextmanager
def discarded_on_error(files: Sequence[StagedFile]) -> Iterator[None]:
    """Remove staged files if what is done with them fails."""
    try:
        yield
    except BaseException:
        discard(files)
        raise


def _staged_file(path: str, rows: int, keys: dict[str, str] | None, partition_by: str | None) -> StagedFile:
    """One row of DuckDB's answer; hive-style folder names say the partition."""
    if partition_by is None:
        return StagedFile(path, rows)
    value = (keys or {}).get(partition_by)
    if value is None:
        raise PartitionMismatchError(
            f"{rows} rows have no {partition_by}, the column that says to which partition a row belongs."
        )
    return StagedFile(path, rows, date.fromisoformat(unquote(value)))
