"""bronze.weather: the weather at New York's airports, one file of hours for each local day."""

from collections.abc import Iterator
from typing import Any

from assets.partitions import DAYS
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings


def extract(extraction: Extraction) -> Iterator[Any]:
    """Read the file of one day."""
    yield from read_ndjson(
        extraction, extraction.file, computed={"weather_date": "make_date(year, month, day)"}
    )


WEATHER = BronzeSource(
    table="weather",
    description="Hourly weather at New York's three airports, as the daily files give it.",
    origin="weather/*.ndjson",
    files="weather/{partition}.ndjson",
    columns=read_columns(Settings().contracts_dir / "bronze" / "weather.yml"),
    extract=extract,
    partition_by="weather_date",
    # A day on which no station reported is a file without lines; 31 December 2013 is one.
    may_be_empty=True,
)

weather = bronze_asset(WEATHER, partitions_def=DAYS, owners=["team:flights"])
