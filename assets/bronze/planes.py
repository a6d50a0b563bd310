"""bronze.planes: the planes table of the operational database."""

from assets.operational import POOL, count_rows, read_table
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.source import BronzeSource
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings

PLANES = BronzeSource(
    table="planes",
    description="Planes as the operational database has them, by registration.",
    origin="operational.planes",
    columns=read_columns(Settings().contracts_dir / "bronze" / "planes.yml"),
    extract=read_table,
    count=count_rows,
)

planes = bronze_asset(PLANES, owners=["team:flights"], pool=POOL)
