"""bronze.flights: the flights out of New York, one CSV file for each local day."""

from collections.abc import Iterator
from typing import Any

from assets.partitions import DAYS
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings


def extract(extraction: Extraction) -> Iterator[Any]:
    """Read the file of one day."""
    yield from read_csv(
        extraction,
        extraction.file,
        null_value="NA",
        computed={"flight_date": "make_date(year, month, day)"},
        open_end="refuse",
    )


FLIGHTS = BronzeSource(
    table="flights",
    description="Flights out of New York's three airports, as the daily files give them.",
    origin="flights/*.csv",
    files="flights/{partition}.csv",
    columns=read_columns(Settings().contracts_dir / "bronze" / "flights.yml"),
    extract=extract,
    partition_by="flight_date",
)

flights = bronze_asset(FLIGHTS, partitions_def=DAYS, owners=["team:flights"])
