"""Merging changed rows by key into a large table, beside PyIceberg's own `upsert`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import flights_csv, reader
from benchmarks.lake import Rows, open_lake
from benchmarks.measure import measure
from benchmarks.results import Result, beside

TITLE = "Upsert"
YEARS = 30
TABLE_ROWS, CHANGED_ROWS = 10_000_000, 1_000_000
# The largest that PyIceberg bears here within some minutes: its time grows with the square of the changes.
SMALL_TABLE_ROWS, SMALL_CHANGED_ROWS = 1_000_000, 500_000


def _flights(file: str, rows: int) -> str:
    """The first flights, with a number as their key."""
    return f"select row_number() over () as id, 1 as version, * from {reader(Path(file))} limit {rows}"


def _changes(changed: int) -> str:
    """Every key of one stretch of the table's, changed."""
    return (
        "select * replace (2 as version, dep_delay + 1 as dep_delay) from bronze.flights "
        f"where id > {changed} and id <= {2 * changed}"
    )


def build(file: str, data_dir: str, rows: int) -> dict[str, Any]:
    """Write the table that is merged into."""
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    catalog, connection = open_lake(data_dir)
    started = time.perf_counter()
    write.replace(
        catalog, TableSpec("bronze.flights", sort_by=("id",)), Rows(connection, _flights(file, rows))
    )
    return {"seconds": time.perf_counter() - started}


def lakehouse_upsert(data_dir: str, changed: int) -> dict[str, Any]:
    """Merge with `write.merge`."""
    from lakehouse.storage import write
    from lakehouse.storage.merge import MergeKey
    from lakehouse.storage.tables import TableSpec

    catalog, connection = open_lake(data_dir)
    spec = TableSpec("bronze.flights", sort_by=("id",))
    started = time.perf_counter()
    write.merge(catalog, spec, Rows(connection, _changes(changed)), MergeKey(("id",), cursor="version"))
    took = time.perf_counter() - started
    return {"seconds": took}


def pyiceberg_upsert(data_dir: str, changed: int) -> dict[str, Any]:
    """Merge with PyIceberg's `upsert`."""
    catalog, connection = open_lake(data_dir)
    table = catalog.load_table("bronze.flights")
    rows = connection.execute(_changes(changed)).to_arrow_table().cast(table.schema().as_arrow())
    started = time.perf_counter()
    result = table.upsert(rows, join_cols=["id"])
    took = time.perf_counter() - started
    assert result.rows_updated == changed
    return {"seconds": took}


def _built(folder: Path, name: str, rows: int) -> str:
    data_dir = str(folder / name)
    measure(build, file=str(flights_csv(folder, YEARS)), data_dir=data_dir, rows=rows)
    return data_dir


def run(folder: Path) -> Iterator[Result]:
    """A million rows into ten million; and the largest that both can do."""
    large = measure(lakehouse_upsert, data_dir=_built(folder, "large", TABLE_ROWS), changed=CHANGED_ROWS)
    yield Result("1M changed rows into 10M, time", large.seconds, 30, "s", "sorted by the key")
    yield Result("1M changed rows into 10M, peak memory", large.peak_mb, 1500, "MB", "default limits")
    changed = SMALL_CHANGED_ROWS
    ours = measure(lakehouse_upsert, data_dir=_built(folder, "ours", SMALL_TABLE_ROWS), changed=changed)
    theirs = measure(pyiceberg_upsert, data_dir=_built(folder, "theirs", SMALL_TABLE_ROWS), changed=changed)
    yield Result(
        "500,000 changed rows into 1M, times faster than PyIceberg's `upsert`",
        theirs.seconds / ours.seconds,
        20,
        "times",
        beside(ours, "PyIceberg", theirs),
        at_least=True,
    )
