"""bronze.airports: the airports table of the operational database."""

from collections.abc import Iterator
from typing import Any

from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings


def extract(extraction: Extraction) -> Iterator[Any]:
    """Read the whole table."""
    from dlt.sources.sql_database import sql_table

    database = extraction.settings.source_dir / "operational.db"
    if not database.exists():
        raise SourceError(f"{database} does not exist. Run `make demo` to write the demo's sources.")
    # Minimal: the contract says the types, so dlt need not read them from the database.
    yield from sql_table(
        f"sqlite:///{database}", table="airports", backend="pyarrow", reflection_level="minimal"
    )


AIRPORTS = BronzeSource(
    table="airports",
    description="Airports as the operational database has them.",
    origin="operational.airports",
    columns=read_columns(Settings().contracts_dir / "bronze" / "airports.yml"),
    extract=extract,
)

airports = bronze_asset(AIRPORTS, owners=["team:flights"], pool="operational_database")
