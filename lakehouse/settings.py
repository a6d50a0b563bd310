"""Configuration, read from `LAKEHOUSE_…` environment variables and nowhere else.

Every path defaults to a place under the project's own folder, so that a fresh clone works
with nothing set and two clones never share data.
"""

import os
from datetime import date
from functools import cached_property
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT_DIR = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """The `local` profile: a SQLite catalog and local files, nothing to start."""

    model_config = SettingsConfigDict(env_prefix="LAKEHOUSE_", frozen=True, extra="ignore")

    project_dir: Path = PROJECT_DIR
    data_dir: Path = Field(
        default_factory=lambda fields: fields["project_dir"] / "data",
        description="Where the warehouse, the catalog and dlt's working folders live.",
    )
    source_dir: Path = Field(
        default_factory=lambda fields: fields["data_dir"] / "sources",
        description="Where file sources are read from.",
    )
    duckdb_memory: str = Field("700MB", description="Memory limit of each DuckDB connection.")
    duckdb_threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="Threads of each DuckDB connection.",
    )
    chunk_partitions: int = Field(
        31,  # a month of days: one commit for each
        ge=1,
        description="How many partitions of a range one commit holds at most.",
    )
    keep_snapshots: int = Field(
        100,
        ge=1,
        description="How many snapshots a table keeps, for `--as-of` and rollback.",
    )
    maintain_after_hours: int = Field(
        24,
        ge=1,
        description="How old a file that no snapshot names must be before maintenance removes it.",
    )
    today: date | None = Field(None, description="Holds the clock still, to live through past data.")

    @cached_property
    def warehouse_dir(self) -> Path:
        """Where the Iceberg tables' files are."""
        return self.data_dir.resolve() / "warehouse"

    @cached_property
    def catalog_file(self) -> Path:
        """The SQLite file that says which metadata file is each table's current one."""
        return self.data_dir.resolve() / "catalog.db"

    @cached_property
    def temp_dir(self) -> Path:
        """Where DuckDB spills."""
        return self.data_dir.resolve() / "tmp"

    @cached_property
    def dlt_dir(self) -> Path:
        """Dlt's stored schemas and state (`state/`) and each run's working folder (`runs/`)."""
        return self.data_dir.resolve() / "dlt"

    @cached_property
    def contracts_dir(self) -> Path:
        """One contract a table: `<layer>/<table>.yml`."""
        return self.project_dir.resolve() / "checks"

    @cached_property
    def dbt_dir(self) -> Path:
        """The dbt project."""
        return self.project_dir.resolve() / "dbt_project"
