"""What dlt remembers of a source goes with the rows: what is loaded is not loaded again, what is not is."""

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from dlt.destinations.impl.filesystem.filesystem import FilesystemClient
from sources import Lake, columns

from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.load import load
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.settings import Settings
from lakehouse.storage.merge import MergeKey


def events(
    database: Path, disposition: Literal["append", "merge"] = "append", meanwhile: Any = None
) -> BronzeSource:
    def extract(_: Extraction) -> Iterable[Any]:
        import dlt
        from dlt.sources.sql_database import sql_table

        new = dlt.sources.incremental("id")
        yield from sql_table(f"sqlite:///{database}", table="events", incremental=new, backend="pyarrow")
        if meanwhile:
            meanwhile()

    key = MergeKey(("id",)) if disposition == "merge" else None
    declared = columns(id="bigint", name="varchar")
    return BronzeSource("events", declared, extract, "app.events", write_disposition=disposition, key=key)


def insert(database: Path, *rows: tuple[int, str]) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("create table if not exists events (id integer primary key, name text)")
        connection.executemany("insert into events values (?, ?)", rows)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    database = tmp_path / "source.db"
    insert(database, (1, "a"), (2, "b"))
    return database


@pytest.fixture(params=[0, 1])
def read_before(request: pytest.FixtureRequest, lake: Lake, database: Path) -> Lake:
    """A lake that read the source never or once, before a third row came."""
    for _ in range(request.param):
        lake.load(events(database))
    insert(database, (3, "c"))
    return lake


def rows_of(lake: Lake) -> list[tuple[Any, ...]]:
    return lake.read("bronze.events", "id, name")


def load_and_die_after_the_commit(database: Path, folder: Path) -> None:
    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    FilesystemClient.complete_load = die  # dlt calls it when every job of a load is done
    load(events(database), Settings(data_dir=folder))


def test_rows_of_a_load_that_died_after_its_commit_do_not_come_again(
    read_before: Lake, database: Path
) -> None:
    lake = read_before
    process = multiprocessing.get_context("spawn").Process(
        target=load_and_die_after_the_commit, args=(database, lake.settings.data_dir)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert rows_of(lake) == [(1, "a"), (2, "b"), (3, "c")]

    insert(database, (4, "d"))
    report = lake.load(events(database))

    assert report.extracted == {None: 1}
    assert rows_of(lake) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_what_dlt_cannot_note_after_the_commit_is_no_failure(
    lake: Lake, database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", "_dlt_loads")

    monkeypatch.setattr(FilesystemClient, "complete_load", full)
    report = lake.load(events(database))
    monkeypatch.undo()

    assert report.result is not None and report.result.rows == 2
    assert "bronze.events was loaded, but dlt could not note it: No space left on device" in caplog.text
    assert lake.load(events(database)).extracted == {None: 0}
    assert rows_of(lake) == [(1, "a"), (2, "b")]


def test_rows_of_a_load_that_was_rolled_back_come_again(lake: Lake, database: Path) -> None:
    lake.load(events(database))
    first = lake.catalog.load_table("bronze.events").metadata.current_snapshot_id
    assert first is not None
    insert(database, (3, "c"))
    lake.load(events(database))
    lake.catalog.load_table("bronze.events").manage_snapshots().rollback_to_snapshot(first).commit()
    lake.load(events(database))

    assert rows_of(lake) == [(1, "a"), (2, "b"), (3, "c")]


def test_rows_of_a_table_that_was_dropped_come_again(lake: Lake, database: Path) -> None:
    lake.load(events(database))
    lake.catalog.drop_table("bronze.events")
    lake.load(events(database))

    assert rows_of(lake) == [(1, "a"), (2, "b")]


def test_two_loads_at_once_do_not_both_bring_the_same_rows(read_before: Lake, database: Path) -> None:
    lake = read_before

    def load_elsewhere() -> None:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            process.apply(load_fresh, (database, lake.settings.data_dir))

    with pytest.raises(LoadError, match=r"bronze\.events: another load brought rows .*run it again"):
        lake.load(events(database, meanwhile=load_elsewhere))

    assert rows_of(lake) == [(1, "a"), (2, "b"), (3, "c")]
    assert lake.load(events(database)).extracted == {None: 0}


def load_fresh(database: Path, folder: Path) -> None:
    load(events(database), Settings(data_dir=folder))


def test_an_incremental_merge_goes_on_where_it_ended(lake: Lake, database: Path) -> None:
    lake.load(events(database, "merge"))
    insert(database, (3, "c"))
    assert lake.load(events(database, "merge")).extracted == {None: 1}
    assert rows_of(lake) == [(1, "a"), (2, "b"), (3, "c")]
