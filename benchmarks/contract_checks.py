"""A contract of twenty checks over ten million rows, beside one scan of the same files."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import flights_csv, reader
from benchmarks.lake import Rows, open_lake
from benchmarks.measure import measure
from benchmarks.results import Result, beside

if TYPE_CHECKING:
    from lakehouse.storage.staging import StagedFile

TITLE = "A contract's checks"
YEARS = 30  # 10.1M rows
CONTRACT = Path(__file__).with_suffix(".yml")
CHECKS = 20
TIMES = 5


def prepare(file: str, data_dir: str) -> dict[str, Any]:
    """The flights of thirty years, no two of them one, and what a check refers to."""
    from lakehouse.storage import write
    from lakehouse.storage.tables import TableSpec

    catalog, connection = open_lake(data_dir)
    connection.execute(f"create table one as from {reader(Path(file))}")
    later = "(year + y)::integer as year, time_hour + to_years(y::integer) as time_hour"
    years = f"select * exclude (y) replace ({later}) from one, range({YEARS}) as years(y)"
    write.replace(catalog, TableSpec("silver.flights"), Rows(connection, years))
    airlines = Rows(connection, "select distinct carrier from one")
    write.replace(catalog, TableSpec("silver.airlines"), airlines)
    return {"seconds": 0.0}


def _files(data_dir: str) -> "list[StagedFile]":
    """The table's files, as a write would stage them."""
    from lakehouse.storage.staging import StagedFile

    table = open_lake(data_dir)[0].load_table("silver.flights")
    files = table.inspect.files().to_pylist()
    return [StagedFile(file["file_path"].removeprefix("file://"), file["record_count"]) for file in files]


def judge(data_dir: str) -> dict[str, Any]:
    """Judge the files by the contract, as before publishing."""
    from lakehouse.quality.audit import ContractAudit
    from lakehouse.quality.contract import read_contract
    from lakehouse.quality.quarantine import Quarantined
    from lakehouse.settings import Settings
    from lakehouse.transform.model_audit import private_connection

    contract = read_contract(CONTRACT, "silver.flights")
    assert len(contract.checks) == CHECKS
    catalog, connection = open_lake(data_dir)
    files, settings = _files(data_dir), Settings(data_dir=Path(data_dir))

    def audit() -> None:
        with private_connection(connection) as private:
            aside = Quarantined(private)
            judging = ContractAudit(contract, private, catalog, settings, "bench", None, "day", [None], aside)
            assert not judging.audit(files)

    return {"seconds": _best(audit)}


def scan(data_dir: str) -> dict[str, Any]:
    """Read every value of the files, and do no more with it than hash it.

    A count or the largest of a column would come from the statistics in the files.
    """
    from lakehouse.storage.sql import identifier

    _, connection = open_lake(data_dir)
    rows = _rows(data_dir)
    hashes = ", ".join(f"bit_xor(hash({identifier(name)}))" for name in connection.sql(rows).columns)
    return {"seconds": _best(lambda: connection.execute(f"select {hashes} from ({rows})").fetchall())}


def read(data_dir: str) -> dict[str, Any]:
    """Hand every row of the files to Python, as Arrow."""
    _, connection = open_lake(data_dir)
    rows = _rows(data_dir)
    return {"seconds": _best(lambda: [None for _ in connection.execute(rows).to_arrow_reader()])}


def _rows(data_dir: str) -> str:
    from lakehouse.storage.sql import literal

    return f"from read_parquet([{', '.join(literal(file.path) for file in _files(data_dir))}])"


def _best(work: Callable[[], Any]) -> float:
    """Seconds of the best of some times: the first reads the files from the disk."""
    seconds = []
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def run(folder: Path) -> Iterator[Result]:
    """The checks, and two ways to scan the same files."""
    data_dir = str(folder / "lake")
    measure(prepare, file=str(flights_csv(folder, 1)), data_dir=data_dir)
    scanned, handed_over = measure(scan, data_dir=data_dir), measure(read, data_dir=data_dir)
    judged = measure(judge, data_dir=data_dir)
    for what, other in (("that hashes every value", scanned), ("that hands all rows over", handed_over)):
        yield Result(
            f"{CHECKS} checks of 10.1M rows beside a scan {what}",
            judged.seconds / other.seconds,
            3,
            "times",
            beside(judged, "the scan", other),
        )
