"""The model silver.flights over ten million rows, beside the same SQL into a native DuckDB table."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import flights_csv, reader
from benchmarks.lake import Rows, open_lake
from benchmarks.measure import measure
from benchmarks.results import Result, beside

TITLE = "A Silver model"
YEARS = 30


def prepare(file: str, data_dir: str) -> dict[str, Any]:
    """Bronze with ten million flights and the airports, and the model's SQL as dbt compiles it."""
    from dbt.cli.main import dbtRunner

    from assets.bronze.airports import AIRPORTS
    from demo.seed import seed
    from lakehouse.ingest.load import load
    from lakehouse.settings import Settings
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    settings = Settings(data_dir=Path(data_dir))
    seed(settings)
    load(AIRPORTS, settings)
    catalog, connection = open_lake(data_dir)
    flights = f"select make_date(year, month, day) as flight_date, * from {reader(Path(file))}"
    write.replace(catalog, TableSpec("bronze.flights", "flight_date"), Rows(connection, flights))
    os.environ["LAKEHOUSE_DATA_DIR"] = data_dir
    common = ["--project-dir", str(settings.dbt_dir), "--profiles-dir", str(settings.dbt_dir)]
    target = ["--target-path", f"{data_dir}/target", "--log-path", f"{data_dir}/logs"]
    dbt = dbtRunner()
    assert dbt.invoke(["--quiet", "run", "--select", "silver.airports", *common, *target]).success
    assert dbt.invoke(["--quiet", "compile", "--select", "silver.flights", *common, *target]).success
    return {"seconds": 0.0}


def _sql(data_dir: str) -> str:
    (file,) = Path(data_dir, "target", "compiled").rglob("silver/flights.sql")
    return file.read_text(encoding="utf-8")


def lakehouse_model(data_dir: str) -> dict[str, Any]:
    """Write the model as an Iceberg table, one file and more for each of its 365 days."""
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    catalog, connection = open_lake(data_dir)
    started = time.perf_counter()
    write.replace(catalog, TableSpec("silver.flights", "flight_date"), Rows(connection, _sql(data_dir)))
    return {"seconds": time.perf_counter() - started}


def native_model(data_dir: str) -> dict[str, Any]:
    """Write the model as a table of a DuckDB database file."""
    _, connection = open_lake(data_dir)
    connection.execute(f"attach '{data_dir}/native.duckdb' as native")
    started = time.perf_counter()
    connection.execute(f"create table native.flights as {_sql(data_dir)}")
    connection.execute("checkpoint native")
    return {"seconds": time.perf_counter() - started}


def run(folder: Path) -> Iterator[Result]:
    """Both from the same Bronze tables."""
    data_dir = str(folder / "lake")
    measure(prepare, file=str(flights_csv(folder, YEARS)), data_dir=data_dir)
    native = measure(native_model, data_dir=data_dir)
    ours = measure(lakehouse_model, data_dir=data_dir)
    yield Result(
        "silver.flights of 10.1M rows beside the same SQL into DuckDB's own table",
        ours.seconds / native.seconds,
        1.3,
        "times",
        beside(ours, "DuckDB", native),
    )
