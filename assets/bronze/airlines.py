"""bronze.airlines: the airlines table of the operational database."""

from assets.operational import POOL, count_rows, read_table
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.source import BronzeSource
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings

AIRLINES = BronzeSource(
    table="airlines",
    description="Airlines as the operational database has them.",
    origin="operational.airlines",
    columns=read_columns(Settings().contracts_dir / "bronze" / "airlines.yml"),
    extract=read_table,
    count=count_rows,
)

airlines = bronze_asset(AIRLINES, owners=["team:flights"], pool=POOL)
