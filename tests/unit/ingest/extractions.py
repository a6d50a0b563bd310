"""What the tests of reading share: a table of four columns, and an extraction of one of its days."""

from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from lakehouse.catalog import open_catalog
from lakehouse.ingest.columns import Column
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.quarantine import Quarantined
from lakehouse.settings import Settings

DAY = date(2013, 1, 1)
SOURCE = BronzeSource(
    table="t",
    columns=(
        Column("d", "date"),
        Column("id", "integer"),
        Column("name", "varchar"),
        Column("amount", "double"),
    ),
    extract=lambda _: iter(()),
    origin="t/*.csv",
    partition_by="d",
)


def make_extraction(
    settings: Settings,
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    source: BronzeSource = SOURCE,
    day: date | None = DAY,
) -> Extraction:
    prestager = source.prestager(open_catalog(settings), keep_snapshots=1)
    loaded_at = datetime(2013, 1, 2, tzinfo=UTC)
    aside = Quarantined(connection)
    return Extraction(day, source, settings, connection, folder, prestager, "1.0", loaded_at, set(), aside)
