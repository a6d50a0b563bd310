"""What a load is about to write, and what it wrote."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from lakehouse.ingest.source import BronzeSource
from lakehouse.quality.check_result import Results
from lakehouse.quality.drift import Arrival
from lakehouse.quality.quarantine import Quarantined
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings


@dataclass
class LoadPlan:
    """What a load is about to write, and what it wrote.

    Args:
        extracted: rows taken from the source, by partition (None: a table without partitions);
            complete before the load step starts. A partition that failed to extract is not in it.
        arrivals: how the source's columns came, by partition.
        counted: rows by the source's own count, where it has one.
        file_versions: of the files that were read, as they were before, by partition.
        loaded_at: the time that the load's rows give.
        results: filled by the load, by table.
        load_id: dlt's id of the load, None before it has one.
        quarantined: what the load sets aside.
        settings: the settings.
        checks: what the contract's checks came to, by partition; filled by the load.
        replays: whether the rows are of quarantine, and not the source's.
        read_from: the load after which dlt's state lets the source read on.
    """

    source: BronzeSource
    catalog: "Catalog"
    connection: "DuckDBPyConnection"
    run_id: str
    keep_snapshots: int
    quarantined: Quarantined
    settings: "Settings"
    checks: Results = field(default_factory=dict)
    loaded_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    extracted: dict[date | None, int] = field(default_factory=dict)
    counted: dict[date | None, int] = field(default_factory=dict)
    arrivals: dict[date | None, list[Arrival]] = field(default_factory=dict)
    file_versions: dict[date | None, str] = field(default_factory=dict)
    results: dict[str, WriteResult] = field(default_factory=dict)
    replays: bool = False
    read_from: str | None = None
    load_id: str | None = None

    @property
    def landed(self) -> dict[date | None, int]:
        """Rows that are to be in the table, by partition."""
        return {p: rows - self.quarantined.rows.get(p, 0) for p, rows in self.extracted.items()}
