"""Ad-hoc SQL over the lakehouse's tables that can do nothing but read them.

Two walls, since either alone has holes: the statement is vetted (`confinement.py`), and the engine is
locked to the folders of the tables that it names.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.confinement import LOCK, vet
from lakehouse.query_errors import NO_TABLES, QueryError, plain, unreadable
from lakehouse.storage.sql import literal

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
    known = metadata_locations(settings)
    if not known:  # before DuckDB's working folder is made
        raise QueryError(NO_TABLES)
    for name in sorted(names):
        if name.lower() not in known:
            raise QueryError(
                f"There is no table {name}. Tables: {', '.join(name for name, _ in known.values())}."
            )
    connection = duckdb_session.connect(settings)
    named = [known[name.lower()] for name in sorted(names)]
    _open_tables(connection, named, _snapshots(settings, named, as_of))
    try:
        if explain:
            select = _explained(connection, explain + select)
        connection.sql(select).create_view(ANSWER)
    except duckdb.Error as error:
        raise QueryError(plain(error)) from error
    return connection


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
    """Make a view of each table at its snapshot, then lock the connection to the tables' folders."""
    import duckdb

    from lakehouse.storage.scan import pin

    for name, file in tables:
        try:
            pin(connection, name, file, snapshots[name])  # a metadata file never changes
        except duckdb.Error as error:
            raise QueryError(unreadable(name, error)) from error
    folders = ", ".join(literal(file.rsplit("/metadata/", 1)[0]) for _, file in tables)
    connection.execute(f"set allowed_directories = [{folders}]")
    for setting in LOCK:
        connection.execute(setting)


def _explained(connection: "DuckDBPyConnection", sql: str) -> str:
    """A SELECT of what EXPLAIN answers, which cannot be a view itself."""
    plans = connection.execute(sql).fetchall()
    rows = ", ".join(f"({literal(kind)}, {literal(plan)})" for kind, plan in plans)
    return f"from (values {rows}) as plan({', '.join(EXPLAINED)})"
