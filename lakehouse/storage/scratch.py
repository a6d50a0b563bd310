"""Scratch for a write's own work: a table in memory or a file beside DuckDB's spill, gone afterwards."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def scratch_table(connection: "DuckDBPyConnection") -> Iterator[str]:
    """The name of a temporary table that is yet to be created."""
    name = identifier(f"scratch_{uuid.uuid4().hex}")
    try:
        yield name
    finally:
        connection.execute(f"drop table if exists {name}")


@contextmanager
def scratch_file(connection: "DuckDBPyConnection", query: str) -> Iterator[str]:
    """A relation with the query's rows, which are read from a file whenever they are asked for.

    Raises:
        duckdb.Error: the query failed.
    """
    spill = connection.execute("select current_setting('temp_directory')").fetchall()[0][0]
    file = Path(spill) / f"{uuid.uuid4().hex}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection.execute(f"copy ({query}\n) to {literal(file)} (format parquet, compression zstd)")
        yield f"read_parquet({literal(file)}, hive_partitioning = false)"
    finally:
        file.unlink(missing_ok=True)
