"""A real `dagster dev` that keeps everything it writes in a folder of its own."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.seed import seed
from lakehouse.catalog import open_catalog
from lakehouse.settings import PROJECT_DIR, Settings
from lakehouse.storage.duckdb_session import connect
from lakehouse.storage.scan import scan

DAYS = [f"2013-01-{day:02}" for day in range(1, 11)]  # the only files that stay of the year
START_SECONDS = 120
STOP_SECONDS = 15

PARTITION_STATUSES = """
query ($asset: AssetKeyInput!) {
  assetNodes(assetKeys: [$asset]) {
    assetPartitionStatuses { ... on TimePartitionStatuses { ranges { startKey endKey status } } }
  }
}
"""
CHECK_STATUSES = """
query ($asset: AssetKeyInput!, $check: String!) {
  assetNodes(assetKeys: [$asset]) {
    assetCheckOrError(checkName: $check) {
      ... on AssetCheck {
        partitionStatuses { ... on AssetCheckTimePartitionStatuses { ranges { startKey endKey status } } }
      }
    }
  }
}
"""
CHECK_EXECUTIONS = """
query ($asset: AssetKeyInput!, $check: String!, $partition: String!) {
  assetCheckExecutions(assetKey: $asset, checkName: $check, partition: $partition, limit: 1) {
    status
    evaluation { metadataEntries { label ... on TextMetadataEntry { text } } }
  }
}
"""


@dataclass(frozen=True)
class Lakehouse:
    """A running `dagster dev` and the data it works on."""

    url: str
    settings: Settings
    log: Path

    def file(self, day: str) -> Path:
        """The source's file of one day."""
        return self.settings.source_dir / "flights" / f"{day}.csv"

    def rows_in_file(self, day: str) -> int:
        """How many flights the source has of one day."""
        with self.file(day).open(encoding="utf-8", newline="") as lines:
            return sum(1 for _ in csv.DictReader(lines))

    def query(self, table: str, select: str) -> list[tuple[Any, ...]]:
        """What a reader finds; `select` reads from `this`. A table that does not exist has no rows."""
        catalog = open_catalog(self.settings)
        if not catalog.table_exists(table):
            return []
        stored = catalog.load_table(table)
        rows = scan(stored.metadata_location, stored.metadata.current_snapshot_id)
        with closing(connect(self.settings)) as connection:
            return connection.execute(f"with this as ({rows}) {select}").fetchall()

    def flights_by_day(self, table: str) -> dict[str, int]:
        """How many flights a table has of each day it knows."""
        counted = "sum(flights)" if table.startswith("gold.") else "count(*)"
        days = f"select flight_date::varchar, {counted}::bigint from this group by 1 order by 1"
        return dict(self.query(table, days))

    def graphql(self, query: str, **variables: Any) -> dict[str, Any]:
        """Ask the webserver as the UI does."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data

    def partition_statuses(self, asset: str) -> dict[str, str]:
        """The status of each day that Dagster knows something of."""
        node = self.graphql(PARTITION_STATUSES, asset={"path": asset.split("/")})["assetNodes"][0]
        return by_day(node["assetPartitionStatuses"]["ranges"])

    def check_statuses(self, asset: str, check: str) -> dict[str, str]:
        """The status of a check on each day that it was evaluated for."""
        node = self.graphql(CHECK_STATUSES, asset={"path": asset.split("/")}, check=check)["assetNodes"][0]
        return by_day(node["assetCheckOrError"]["partitionStatuses"]["ranges"])

    def check_result(self, asset: str, check: str, day: str) -> tuple[str, dict[str, str]]:
        """The latest status of a day's check, and the texts of its metadata."""
        executions = self.graphql(
            CHECK_EXECUTIONS, asset={"path": asset.split("/")}, check=check, partition=day
        )["assetCheckExecutions"]
        assert executions, f"{check} of {asset} was never evaluated for {day}."
        entries = executions[0]["evaluation"]["metadataEntries"]
        return executions[0]["status"], {
            entry["label"]: entry["text"] for entry in entries if "text" in entry
        }


def by_day(ranges: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Ranges of days of one status, day by day."""
    return {day: span["status"] for span in ranges for day in days_between(span["startKey"], span["endKey"])}


def days_between(first: str, last: str) -> Iterator[str]:
    """Both ends and all days between them."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    for offset in range((end - start).days + 1):
        yield str(start + timedelta(days=offset))


@contextmanager
def running_in(folder: Path) -> Iterator[Lakehouse]:
    """`dagster dev` on a free port, ended with everything it started."""
    settings = Settings(data_dir=folder / "data", source_dir=folder / "data" / "sources")
    seed_days(settings.source_dir)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LAKEHOUSE_")}
    environment |= {
        "LAKEHOUSE_DATA_DIR": str(settings.data_dir),
        "DAGSTER_HOME": str(dagster_home(folder)),
    }
    port = free_port()
    lakehouse = Lakehouse(f"http://127.0.0.1:{port}", settings, folder / "dagster-dev.log")
    with lakehouse.log.open("w") as output:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("dagster"), "dev", "-h", "127.0.0.1", "-p", str(port)],
            cwd=PROJECT_DIR,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until_ready(lakehouse, process)
        yield lakehouse
    finally:
        stop(process)


def seed_days(source_dir: Path) -> None:
    """The demo's sources, less the days that the tests do not use."""
    seed(Settings(source_dir=source_dir))
    for file in (source_dir / "flights").iterdir():
        if file.stem not in DAYS:
            file.unlink()


def dagster_home(folder: Path) -> Path:
    """The project's own dagster.yaml, with every path inside this folder."""
    home = folder / "home"
    home.mkdir()
    config = (PROJECT_DIR / "dagster.yaml").read_text(encoding="utf-8")
    moved = yaml.safe_load(re.sub(r"(base_dir: )(\S+)", rf"\g<1>{folder}/\g<2>", config))
    moved |= {"telemetry": {"enabled": False}, "nux": {"enabled": False}}
    (home / "dagster.yaml").write_text(yaml.safe_dump(moved), encoding="utf-8")
    return home


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(lakehouse: Lakehouse, process: "subprocess.Popen[bytes]") -> None:
    """Poll until the assets are loaded; fail with the end of the log."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if lakehouse.graphql("{ assetNodes { id } }")["assetNodes"]:
                return
        except (OSError, AssertionError):
            pass  # not listening, or not loaded yet
        time.sleep(0.2)
    state = "ended" if process.poll() is not None else f"was not ready after {START_SECONDS} s"
    tail = "\n".join(lakehouse.log.read_text(errors="replace").splitlines()[-40:])
    pytest.fail(f"dagster dev {state}. The end of its log:\n{tail}", pytrace=False)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End the whole process group: webserver, daemon, code server and runs."""
    # A shell's background job ignores SIGINT, and so does what it starts.
    for signal_number in (signal.SIGINT, signal.SIGKILL):
        deadline = time.monotonic() + STOP_SECONDS
        if is_alive(process):
            os.killpg(process.pid, signal_number)
        while is_alive(process) and time.monotonic() < deadline:
            time.sleep(0.1)


def is_alive(process: "subprocess.Popen[bytes]") -> bool:
    """Whether any process of the group is left."""
    process.poll()  # a dead leader that nobody waited for would count
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
