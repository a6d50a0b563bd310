"""Loading Bronze from one large CSV file, beside DuckDB's own `COPY` and dlt's own Iceberg path."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.data import flights_csv, reader, source_columns
from benchmarks.measure import measure
from benchmarks.results import Result

TITLE = "Bronze load from CSV"
YEARS = 30  # 10.1M rows
MORE_YEARS = 90  # 30.3M rows
FEW = 1000  # lines


def lakehouse_load(file: str, data_dir: str) -> dict[str, Any]:
    """Load the file as a Bronze table."""
    from lakehouse.ingest.csv_files import read_csv
    from lakehouse.ingest.dlt_runtime import import_dlt
    from lakehouse.ingest.load import load
    from lakehouse.ingest.source import BronzeSource, Extraction
    from lakehouse.settings import Settings

    def source(name: str, path: Path) -> BronzeSource:
        def extract(extraction: Extraction) -> Iterator[Any]:
            yield from read_csv(extraction, path, null_value="NA")

        return BronzeSource(name, source_columns(), extract, path.name)

    import_dlt()
    import lakehouse.ingest.destination  # noqa: F401

    # What is imported late is so now.
    load(source("few", _few_rows(Path(file))), Settings(data_dir=Path(data_dir) / "few"))
    started = time.perf_counter()
    report = load(source("flights", Path(file)), Settings(data_dir=Path(data_dir)))
    assert report.result is not None
    return {"seconds": time.perf_counter() - started, "rows": report.result.rows}


def duckdb_copy(file: str, target: str) -> dict[str, Any]:
    """DuckDB's `COPY` of the file to one Parquet file, with the limits of our own connections."""
    import duckdb

    from lakehouse.settings import Settings
    from lakehouse.storage.sql import literal

    connection = duckdb.connect()
    connection.execute(f"set memory_limit = {literal(Settings().duckdb_memory)}")
    started = time.perf_counter()
    rows = connection.execute(
        f"copy (from {reader(Path(file))}) to {literal(target)} (format parquet)"
    ).fetchall()[0][0]
    return {"seconds": time.perf_counter() - started, "rows": rows}


def dlt_load(file: str, data_dir: str, by_hand: bool = False) -> dict[str, Any]:
    """Dlt's `filesystem` destination with its own Iceberg tables, fed by Arrow batches.

    Args:
        by_hand: read by PyArrow, 32 MB at a time, instead of by dlt's own reader of CSV files.
    """
    from pyarrow import csv

    from lakehouse.ingest.dlt_runtime import import_dlt

    dlt = import_dlt()
    from dlt.destinations import filesystem
    from dlt.sources.filesystem import filesystem as files
    from dlt.sources.filesystem import read_csv_duckdb

    def rows(path: Path) -> Any:
        if by_hand:
            options = csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
            batches = csv.open_csv(path, csv.ReadOptions(block_size=32 << 20), convert_options=options)
            return dlt.resource(batches, name="flights")
        found = files(path.parent.as_uri(), file_glob=path.name)
        return (found | read_csv_duckdb(use_pyarrow=True, na_values="NA")).with_name("flights")

    def run(path: Path, folder: str) -> None:
        destination = filesystem(bucket_url=f"{folder}/lake")
        pipeline = dlt.pipeline("bench", pipelines_dir=f"{folder}/pipelines", destination=destination)
        pipeline.run(
            rows(path), table_format="iceberg", write_disposition="replace", loader_file_format="parquet"
        )

    run(_few_rows(Path(file)), f"{data_dir}/few")
    started = time.perf_counter()
    run(Path(file), data_dir)
    return {"seconds": time.perf_counter() - started}


def _few_rows(file: Path) -> Path:
    """The first rows of a file: what imports late does so while they are loaded."""
    few = file.with_name(f"few_of_{file.name}")
    if not few.exists():
        with file.open("rb") as lines:
            few.write_bytes(b"".join(islice(lines, FEW)))
    return few


def run(folder: Path) -> Iterator[Result]:
    """Measure the three, and ours with three times the rows."""
    file = str(flights_csv(folder, YEARS))
    copied = measure(duckdb_copy, file=file, target=str(folder / "copy.parquet"))
    loaded = measure(lakehouse_load, file=file, data_dir=str(folder / "loaded"))
    assert loaded.values["rows"] == copied.values["rows"]
    by_dlt = measure(dlt_load, file=file, data_dir=str(folder / "by_dlt"))
    by_hand = measure(dlt_load, file=file, data_dir=str(folder / "by_hand"), by_hand=True)
    times = f"{loaded.seconds:.1f} s"
    yield Result(
        "10.1M rows, time beside DuckDB's `COPY` to Parquet",
        loaded.seconds / copied.seconds,
        1.5,
        "times",
        f"{times}; `COPY` {copied.seconds:.1f} s",
    )
    yield Result(
        "10.1M rows, times faster than dlt's own Iceberg path, read by dlt's own `read_csv_duckdb`",
        by_dlt.seconds / loaded.seconds,
        3,
        "times",
        f"{times}; dlt {by_dlt.seconds:.1f} s and {by_dlt.peak_mb:.0f} MB",
        at_least=True,
    )
    yield Result(
        "the same, but dlt handed batches of 32 MB that PyArrow read",
        by_hand.seconds / loaded.seconds,
        3,
        "times",
        f"{times}; dlt {by_hand.seconds:.1f} s and {by_hand.peak_mb:.0f} MB",
        at_least=True,
    )
    yield Result(
        "10.1M rows, peak memory", loaded.peak_mb, 800, "MB", f"`COPY` {copied.peak_mb:.0f} MB, same limit"
    )
    more = measure(lakehouse_load, file=str(flights_csv(folder, MORE_YEARS)), data_dir=str(folder / "more"))
    yield Result(
        "30.3M rows, peak memory beside that of 10.1M",
        more.peak_mb / loaded.peak_mb,
        1.1,
        "times",
        f"{more.peak_mb:.0f} MB; {more.seconds:.1f} s",
    )
    yield from _file_sizes(folder / "loaded")


def _file_sizes(data_dir: Path) -> Iterator[Result]:
    sizes = [
        file.stat().st_size / 1e6
        for file in (data_dir / "warehouse" / "bronze" / "flights").rglob("*.parquet")
    ]
    detail = ", ".join(f"{size:.0f} MB" for size in sorted(sizes))
    yield Result("10.1M rows, smallest data file", min(sizes), 128, "MB", detail, at_least=True)
    yield Result("10.1M rows, largest data file", max(sizes), 512, "MB", detail)
