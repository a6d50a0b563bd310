"""The catalog in Postgres: what passes by itself is asked again, the rest is one sentence."""

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from postgres import Postgres
from pydantic import SecretStr
from sqlalchemy.orm import Session
from store import D1, D2, Store

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.cli import main
from lakehouse.settings import Settings
from lakehouse.storage.errors import CatalogError, CommitUnknownError

PATIENCE = 1.0  # seconds, where a test waits for it to end
NAME = "silver.t"


@pytest.fixture
def server(postgres: Postgres) -> Iterator[Postgres]:
    yield postgres
    postgres.start()


@pytest.fixture
def settings(tmp_path: Path, server: Postgres) -> Settings:
    # Options in the address take the place of our own, by which a lock is waited for half a minute.
    uri = f"{server.new_database().get_secret_value()}&options=-c%20lock_timeout%3D100ms"
    return Settings(data_dir=tmp_path, catalog_uri=SecretStr(uri))


@pytest.fixture
def store(settings: Settings) -> Store:
    store = Store(settings)
    store.overwrite(NAME, "select date '2013-01-01' as d, 1 as x", [D1])
    return store


def overwrite(store: Store, x: int, **options: Any) -> None:
    store.overwrite(NAME, f"select date '2013-01-01' as d, {x} as x", [D1], **options)


def test_a_table_is_written_and_found_through_postgres_alone(store: Store, settings: Settings) -> None:
    assert store.read(NAME) == [(D1, 1)]
    assert metadata_locations(settings) == {NAME: (NAME, store.table(NAME).metadata_location)}
    assert not settings.catalog_file.exists()


def test_a_server_that_comes_back_is_waited_for_in_the_middle_of_a_write(
    store: Store, server: Postgres
) -> None:
    def restart(_: Any) -> dict[Any, str]:
        server.crash()
        threading.Timer(0.5, server.start).start()
        return {}

    overwrite(store, 2, audit=restart)

    assert store.read(NAME) == [(D1, 2)]
    assert store.snapshots(NAME) == 2
    assert store.unreferenced_files() == []


def test_the_next_command_of_a_long_lived_process_works_when_the_server_is_back(
    store: Store, server: Postgres
) -> None:
    server.crash()
    server.start()
    assert store.read(NAME) == [(D1, 1)]
    overwrite(store, 2)
    assert store.read(NAME) == [(D1, 2)]


def test_a_server_that_stays_away_is_one_sentence_and_the_table_is_as_before(
    store: Store, server: Postgres
) -> None:
    def crash(_: Any) -> dict[Any, str]:
        server.crash()
        return {}

    store.catalog.patience_seconds = PATIENCE
    with pytest.raises(CatalogError, match=r"^The catalog lake_\w+ on .* does not answer .*run it again\.$"):
        overwrite(store, 2, audit=crash)
    server.start()

    assert store.read(NAME) == [(D1, 1)]
    assert store.unreferenced_files() == []
    overwrite(store, 3)
    assert store.read(NAME) == [(D1, 3)]


def at_the_commit(monkeypatch: pytest.MonkeyPatch, lands: bool, crash: Callable[[], None]) -> None:
    """Let the server crash once while it commits: before it did, or after it did and before it said so."""
    commit, pending = Session.commit, [True]

    def crashing(self: Session) -> None:
        if pending:
            pending.pop()
            if lands:
                self.connection().exec_driver_sql("commit")
                self.connection().exec_driver_sql("begin")
            crash()
        commit(self)

    monkeypatch.setattr(Session, "commit", crashing)


@pytest.mark.parametrize("lands", [True, False], ids=["committed", "not committed"])
def test_a_connection_lost_at_the_commit_ends_with_the_write_there_once(
    store: Store, server: Postgres, monkeypatch: pytest.MonkeyPatch, lands: bool
) -> None:
    def restart() -> None:
        server.crash()
        server.start()

    at_the_commit(monkeypatch, lands, restart)
    store.overwrite(NAME, "select date '2013-01-02' as d, 2 as x", [D2])

    assert store.read(NAME) == [(D1, 1), (D2, 2)]
    assert store.snapshots(NAME) == 2


@pytest.mark.parametrize("lands", [True, False], ids=["committed", "not committed"])
def test_where_nobody_can_say_whether_it_committed_the_files_stay(
    store: Store, server: Postgres, monkeypatch: pytest.MonkeyPatch, lands: bool
) -> None:
    store.catalog.patience_seconds = PATIENCE
    at_the_commit(monkeypatch, lands, server.crash)
    with pytest.raises(CommitUnknownError, match=r"^silver\.t: .* lost .*`lakehouse history silver\.t` says"):
        overwrite(store, 2)
    server.start()

    assert store.read(NAME) == [(D1, 2 if lands else 1)]
    assert len(store.unreferenced_files()) == (0 if lands else 1)
    overwrite(store, 2)
    assert store.read(NAME) == [(D1, 2)]


def test_a_row_that_another_session_holds_is_waited_for(
    store: Store, server: Postgres, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    with server.session(settings.catalog_uri) as holder, holder.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from iceberg_tables for update")
        release = threading.Timer(0.5, lambda: cursor.execute("rollback"))
        release.start()
        overwrite(store, 2)
        release.join()

    assert "lock timeout" in caplog.text
    assert store.read(NAME) == [(D1, 2)]
    assert store.snapshots(NAME) == 2


def test_a_row_that_is_held_for_ever_is_one_sentence(
    store: Store, server: Postgres, settings: Settings
) -> None:
    with server.session(settings.catalog_uri) as holder, holder.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select * from iceberg_tables for update")
        store.catalog.patience_seconds = PATIENCE
        with pytest.raises(CatalogError, match=r"lock timeout"):
            overwrite(store, 2)

    assert store.read(NAME) == [(D1, 1)]
    assert store.unreferenced_files() == []


def test_a_database_that_lost_the_catalog_is_refused(
    store: Store, server: Postgres, settings: Settings
) -> None:
    server.execute("drop table iceberg_tables, iceberg_namespace_properties", settings.catalog_uri)
    for attempt in (lambda: open_catalog(settings), lambda: metadata_locations(settings)):
        with pytest.raises(CatalogError, match=r"is missing, but .* holds tables, such as silver\.t"):
            attempt()
    with pytest.raises(CatalogError, match="restore it from a backup"):
        overwrite(store, 2)


SECRET = "s3cret-word"


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        (f"postgresql://me:{SECRET}@127.0.0.1:1/lake", "The catalog lake on 127.0.0.1:1 does not answer"),
        (f"postgresql://me:{SECRET}@nowhere.invalid/lake", "lake on nowhere.invalid cannot be opened"),
        (f"mysql://me:{SECRET}@host/lake", "LAKEHOUSE_CATALOG_URI: only Postgres can hold"),
        (f"me {SECRET}", "LAKEHOUSE_CATALOG_URI: this is no address such as"),
    ],
)
def test_a_wrong_address_is_one_sentence_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, uri: str, says: str
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LAKEHOUSE_CATALOG_URI", uri)
    for arguments in (["tables"], ["query", "from gold.x"], ["history", "gold.x"], ["maintain"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: ") and says in result.stderr
        assert result.stderr.count("\n") == 1
        assert SECRET not in result.output + caplog.text


def test_no_password_is_in_what_a_table_or_the_settings_show(store: Store, settings: Settings) -> None:
    uri = SecretStr(settings.catalog_uri.get_secret_value().replace("postgres:@", f"postgres:{SECRET}@"))
    secretive = Store(settings.model_copy(update={"catalog_uri": uri}))
    table = secretive.table(NAME)

    shown = (repr(secretive.settings), table.io.properties, secretive.catalog.properties, repr(table))
    assert SECRET not in str(shown)
