"""Sources and a lake for the tests of loading."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb
from pyiceberg.catalog import Catalog

from lakehouse.ingest.columns import Column
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.load import LoadReport, load
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.settings import Settings
from lakehouse.storage import scan

D1, D2, D3 = (date(2013, 1, day) for day in range(1, 4))
HEADER = "d,id,name\n"


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in types.items())


def python_source(
    rows: Callable[[Extraction], Iterable[Any]] | Iterable[Any],
    declared: tuple[Column, ...] = columns(id="integer", name="varchar", amount="double"),
    **options: Any,
) -> BronzeSource:
    """A source that yields these rows, or what the function gives for a partition."""

    def extract(extraction: Extraction) -> Iterable[Any]:
        yield from rows(extraction) if callable(rows) else rows

    return BronzeSource("t", declared, extract, "python:t", **options)


def daily_files(extraction: Extraction) -> Iterable[Any]:
    yield from read_csv(
        extraction, extraction.settings.source_dir / f"{extraction.partition}.csv", null_value="NA"
    )


DAILY = BronzeSource(
    "daily", columns(d="date", id="integer", name="varchar"), daily_files, "*.csv", partition_by="d"
)


@dataclass
class Lake:
    settings: Settings
    catalog: Catalog
    connection: duckdb.DuckDBPyConnection

    def load(self, source: BronzeSource, partitions: list[date] | None = None) -> LoadReport:
        return load(source, self.settings, partitions)

    def write_day(self, day: date, lines: str, header: str = HEADER) -> None:
        self.settings.source_dir.mkdir(parents=True, exist_ok=True)
        (self.settings.source_dir / f"{day}.csv").write_text(header + lines, encoding="utf-8")

    def read(self, name: str, selected: str = "* exclude (_load_id, _loaded_at)") -> list[tuple[Any, ...]]:
        scan.pin_current(self.connection, self.catalog.load_table(name))
        return self.connection.execute(f"select {selected} from {name} order by all").fetchall()

    def columns(self, name: str) -> list[str]:
        return [field.name for field in self.catalog.load_table(name).schema().fields]

    def snapshots(self, name: str) -> int:
        return len(self.catalog.load_table(name).metadata.snapshots)

    def working_folders(self) -> list[str]:
        return [folder.name for folder in (self.settings.dlt_dir / "runs").iterdir()]


GOOD_SOURCE = python_source([{"id": 1}])
