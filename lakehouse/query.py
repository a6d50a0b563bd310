"""Ad-hoc SQL over the lakehouse's tables, and refused rows, that can do nothing but read them.

Two walls, since either alone has holes: the statement is vetted (`confinement.py`), and the engine is
locked to the folders of the tables that it names.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.clone import origin_folders
from lakehouse.confinement import LOCK, vet
from lakehouse.query_errors import NO_TABLES, QueryError, no_such_table, plain, unreadable
from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lakehouse.settings import Settings

ANSWER = "answer"
EXPLAINED = ["explain_key", "explain_value"]


def open_query(settings: "Settings", sql: str, as_of: datetime | None = None) -> "DuckDBPyConnection":
    """A locked connection in which the view `answer` gives the SQL's rows, computed as they are read.

    Args:
        as_of: read each table as it was then; None reads it as it is.

    Raises:
        RefusedError: the SQL would do more than read tables.
        QueryError: it is wrong, or a table of it cannot be read.
    """
    import duckdb

    from lakehouse.storage import duckdb_session

    explain, select, names = vet(sql)
    known, refused = metadata_locations(settings), _refused(settings)
    if not known and not refused:  # before DuckDB's working folder is made
        raise QueryError(NO_TABLES)
    keys = {name.lower() for name in names}
    _refuse_unknown(names, known, refused, as_of)
    connection = duckdb_session.connect(settings)
    tables = [known[key] for key in sorted(keys & known.keys())]
    _open_tables(connection, tables, _snapshots(settings, tables, as_of))
    folders = [refused[key] for key in sorted(keys & refused.keys())]
    _open_refused(connection, folders)
    origins = origin_folders(settings, [name for name, _ in tables])
    own = [file.rsplit("/metadata/", 1)[0] for _, file in tables]
    _lock(connection, [*own, *origins, *(folder for _, folder in folders)])
    try:
        if explain:
            select = _explained(connection, explain + select)
        connection.sql(select).create_view(ANSWER)
    except duckdb.Error as error:
        raise QueryError(plain(error)) from error
    return connection


def _refused(settings: "Settings") -> dict[str, tuple[str, Path]]:
    """The name and folder of each table's refused rows, by the name in lower case."""
    from lakehouse.quality.refused import refused_tables, refused_view

    views = {refused_view(table): folder for table, folder in refused_tables(settings).items()}
    return {view.lower(): (view, folder) for view, folder in views.items()}


def _refuse_unknown(
    names: Iterable[str],
    known: Mapping[str, tuple[str, str]],
    refused: Mapping[str, tuple[str, Path]],
    as_of: datetime | None,
) -> None:
    for name in sorted(names):
        key = name.lower()
        if key in refused and as_of is not None:
            raise QueryError(f"{name} holds refused rows, which have no history: leave --as-of out.")
        if key not in known and key not in refused:
            raise no_such_table(name, (there for there, _ in (*known.values(), *refused.values())))


def _snapshots(
    settings: "Settings", tables: list[tuple[str, str]], as_of: datetime | None
) -> dict[str, int | None]:
    """The snapshot of each table to read; None stands for the metadata file's newest."""
    if as_of is None:
        return dict.fromkeys((name for name, _ in tables), None)
    from lakehouse.storage.history import snapshot_as_of

    catalog = open_catalog(settings)
    return {name: snapshot_as_of(catalog.load_table(name), as_of, name) for name, _ in tables}


def _open_tables(
    connection: "DuckDBPyConnection", tables: list[tuple[str, str]], snapshots: dict[str, int | None]
) -> None:
    """Make a view of each table at its snapshot."""
    import duckdb

    from lakehouse.storage.scan import pin

    for name, file in tables:
        try:
            pin(connection, name, file, snapshots[name])  # a metadata file never changes
        except duckdb.Error as error:
            raise QueryError(unreadable(name, error)) from error


def _open_refused(connection: "DuckDBPyConnection", folders: Iterable[tuple[str, Path]]) -> None:
    """Make a view of the refused rows in each folder, with the run and the partition as text."""
    import duckdb

    from lakehouse.quality.refused import refused_rows

    for name, folder in folders:
        layer, _, table = name.partition(".")
        try:
            connection.execute(f"create schema if not exists {identifier(layer)}")
            connection.execute(
                f"create view {identifier(layer)}.{identifier(table)} as {refused_rows(folder)}"
            )
        except duckdb.Error as error:
            raise QueryError(f"{name} cannot be read: {plain(error)}") from error


def _lock(connection: "DuckDBPyConnection", folders: Iterable[str | Path]) -> None:
    """Let the connection read these folders, and nothing else."""
    connection.execute(f"set allowed_directories = [{', '.join(map(literal, folders))}]")
    for setting in LOCK:
        connection.execute(setting)


def _explained(connection: "DuckDBPyConnection", sql: str) -> str:
    """A SELECT of what EXPLAIN answers, which cannot be a view itself."""
    plans = connection.execute(sql).fetchall()
    rows = ", ".join(f"({literal(kind)}, {literal(plan)})" for kind, plan in plans)
    return f"from (values {rows}) as plan({', '.join(EXPLAINED)})"
