"""The flights of 2013, as many times over as a benchmark needs them."""

import zipfile
from pathlib import Path

from demo.data import data_folder
from lakehouse.ingest.columns import Column, read_columns
from lakehouse.settings import Settings
from lakehouse.storage.sql import literal

ROWS_OF_A_YEAR = 336_776


def flights_csv(folder: Path, years: int) -> Path:
    """One CSV file with every flight `years` times, NA and all."""
    file = folder / f"flights_{years}.csv"
    if not file.exists():
        with zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive:
            header, rows = archive.read("flights.csv").split(b"\n", 1)
        partial = file.with_suffix(".partial")
        with partial.open("wb") as out:
            out.write(header + b"\n")
            for _ in range(years):
                out.write(rows if rows.endswith(b"\n") else rows + b"\n")
        partial.rename(file)
    return file


def source_columns() -> tuple[Column, ...]:
    """The columns of the file, as the contract declares them."""
    contract = Settings().contracts_dir / "bronze" / "flights.yml"
    return tuple(column for column in read_columns(contract) if column.name != "flight_date")


def reader(file: Path) -> str:
    """DuckDB reading the file with the declared types, as fast as it can."""
    types = ", ".join(f"{literal(column.name)}: {literal(column.type)}" for column in source_columns())
    options = "header = true, nullstr = 'NA', auto_detect = false"
    return f"read_csv({literal(file)}, {options}, columns = {{{types}}})"
