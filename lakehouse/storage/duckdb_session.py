"""DuckDB connections with the extensions from their wheels: nothing is downloaded."""

import os
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lakehouse.settings import Settings

# The Iceberg extension reads manifests with the Avro one, which must be there first.
EXTENSIONS = ("avro", "iceberg")
# Of more partitions at once (DuckDB's own limit is 100) a write closes files and begins others, many
# small ones. A year of days has 365; a process may commonly open 1,024.
OPEN_FILES = 500


def extension_file(name: str) -> Path:
    """The extension's file in site-packages.

    Raises:
        FileNotFoundError: its wheel is missing or was built for another DuckDB.
    """
    import duckdb

    package = find_spec(f"duckdb_extension_{name}")
    if package is None or package.origin is None:
        raise FileNotFoundError(f"The package duckdb-extension-{name} is not installed: run `make setup`.")
    file = Path(package.origin).parent / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    if not file.exists():
        raise FileNotFoundError(
            f"duckdb-extension-{name} does not fit DuckDB {duckdb.__version__}: install the same version."
        )
    return file


def prepare(connection: "DuckDBPyConnection", settings: "Settings") -> None:
    """Load the extensions and set limits and the time zone on a new connection."""
    from lakehouse.storage.sql import literal

    for name in EXTENSIONS:
        connection.execute(f"load {literal(str(extension_file(name)))}")
    settings.temp_dir.mkdir(parents=True, exist_ok=True)
    connection.execute("set autoinstall_known_extensions = false")
    connection.execute("set autoload_known_extensions = false")
    connection.execute(f"set memory_limit = {literal(settings.duckdb_memory)}")
    connection.execute(f"set threads = {settings.duckdb_threads}")
    # Its own: spill files are named alike in every process, and would be read as one another.
    spill = settings.temp_dir / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    connection.execute(f"set temp_directory = {literal(str(spill))}")
    connection.execute(f"set global partitioned_write_max_open_files = {OPEN_FILES}")
    set_time_zone(connection)


def set_time_zone(connection: "DuckDBPyConnection") -> None:
    """Read zoned times as UTC; the setting is lost in each cursor made from a connection."""
    connection.execute("set TimeZone = 'UTC'")


def connect(settings: "Settings") -> "DuckDBPyConnection":
    """Open an in-memory DuckDB that can read Iceberg tables."""
    import duckdb

    connection = duckdb.connect(":memory:")
    prepare(connection, settings)
    return connection
