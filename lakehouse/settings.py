"""Configuration, read from `LAKEHOUSE_…` environment variables and nowhere else.

Every path defaults to a place under the project's own folder, so that a fresh clone works
with nothing set and two clones never share data.
"""

import os
import re
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT_DIR = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """By default the `local` profile: a SQLite catalog and local files, nothing to start."""

    model_config = SettingsConfigDict(
        env_prefix="LAKEHOUSE_",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        hide_input_in_errors=True,  # it may be a secret
    )

    project_dir: Path = PROJECT_DIR
    data_dir: Path = Field(
        default_factory=lambda fields: fields["project_dir"] / "data",
        description="Where the warehouse, the catalog and dlt's working folders live.",
    )
    source_dir: Path = Field(
        default_factory=lambda fields: fields["data_dir"] / "sources",
        description="Where file sources are read from.",
    )
    catalog_uri: SecretStr | None = Field(
        None,
        description="The Postgres database that holds the catalog; None keeps it in a SQLite file.",
    )
    catalog_patience_seconds: float = Field(
        60,  # a server restarts in seconds, a managed one fails over within a minute
        ge=0,
        description="How long a write waits for a catalog that does not answer.",
    )
    duckdb_memory: str = Field("600MB", description="Memory limit of each DuckDB connection.")
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
    backfill_partitions: int = Field(
        0,
        ge=0,
        description="How many partitions of a backfill one run takes; 0: all of an unbroken range.",
    )
    catch_up_partitions: int = Field(
        31,  # a month of days that nobody ran
        ge=1,
        description="How many partitions that are due a schedule asks for at one tick.",
    )
    file_settle_seconds: float = Field(
        10,
        ge=0,
        description="For how long a file must be the same before a sensor takes it for whole.",
    )
    keep_snapshots: int = Field(
        100,
        ge=1,
        description="How many snapshots a table keeps, for `--as-of` and rollback.",
    )
    good_rows_percent: float = Field(
        95,
        ge=0,
        le=100,
        description="Under how many percent of good rows a partition is not published.",
    )
    row_count_change_percent: float | None = Field(
        50,
        gt=0,
        description="How far a partition's rows may be off the median of those before it.",
    )
    maintain_after_hours: int = Field(
        24,
        ge=1,
        description="How old a file that no snapshot names must be before maintenance removes it.",
    )
    refused_days: int = Field(
        30,  # time to look at what a check refused and to mend its source
        ge=1,
        description="How many days maintenance keeps staged rows that a contract's check refused.",
    )
    alert_urls: SecretStr | None = Field(
        None, description="The apprise URLs that alerts go to, by white space or commas; None: only the log."
    )
    alert_repeat_minutes: float = Field(
        60,  # a retry, or a sensor's next ticks, tell nothing new
        ge=0,
        description="After how long an alert says again what one said before.",
    )
    alert_timeout_seconds: float = Field(
        10,  # of what a run may wait for a server that does not answer
        gt=0,
        description="How long sending an alert may take.",
    )
    alert_warnings: bool = Field(False, description="Whether a check that only warns is worth an alert.")
    dagster_url: str = Field(
        "http://127.0.0.1:3000", description="Where Dagster is seen, for links to a run."
    )
    today: date | None = Field(None, description="Holds the clock still, to live through past data.")
    sample: timedelta | None = Field(None, description="Builds only the last days, such as `7d`.")

    @field_validator("catalog_uri")
    @classmethod
    def _names_a_postgres_database(cls, uri: SecretStr | None) -> SecretStr | None:
        if uri is not None:
            from lakehouse.catalog.postgres import refusal_of

            if refusal := refusal_of(uri.get_secret_value()):
                raise ValueError(refusal)
        return uri

    @field_validator("duckdb_memory")
    @classmethod
    def _is_an_amount(cls, memory: str) -> str:
        if not re.fullmatch(r"\s*[1-9][0-9]*(\.[0-9]+)?\s*[MGT]i?B\s*", memory, re.IGNORECASE):
            raise ValueError("an amount of memory is 600MB or 2GB, for instance")
        return memory

    @field_validator("sample", mode="before")
    @classmethod
    def _is_some_days(cls, sample: object) -> object:
        if isinstance(sample, str) and not re.fullmatch("[1-9][0-9]*d", sample.strip()):
            raise ValueError("a sample is a number of days, 7d for instance")
        return sample

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
