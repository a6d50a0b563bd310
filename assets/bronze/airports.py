"""bronze.airports: the airports table of the operational database."""

from assets.operational import POOL, count_rows, read_table
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.source import BronzeSource
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings

AIRPORTS = BronzeSource(
    table="airports",
    description="Airports as the operational database has them.",
    origin="operational.airports",
    columns=read_columns(Settings().contracts_dir / "bronze" / "airports.yml"),
    extract=read_table,
    count=count_rows,
)

airports = bronze_asset(AIRPORTS, owners=["team:flights"], pool=POOL)
