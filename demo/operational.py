"""The operational database: the reference tables of the airports, airlines and planes, in SQLite."""

import sqlite3
from contextlib import closing
from pathlib import Path

from demo.data import read_rows

TABLES = {
    "airports": """
        faa text primary key, name text, lat float, lon float, alt integer, tz integer, dst text, tzone text
    """,
    "airlines": "carrier text primary key, name text",
    "planes": """
        tailnum text primary key, year integer, type text, manufacturer text, model text,
        engines integer, seats integer, speed integer, engine text
    """,
}


def write_database(file: Path) -> None:
    """Write the database aside and rename it, in place of one that is there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.partial")
    partial.unlink(missing_ok=True)
    with closing(sqlite3.connect(partial)) as connection, connection:
        for table, columns in TABLES.items():
            rows = read_rows(f"{table}.csv")
            connection.execute(f"create table {table} ({columns})")
            named = ", ".join(f":{column}" for column in rows[0])
            connection.executemany(f"insert into {table} ({', '.join(rows[0])}) values ({named})", rows)
    partial.replace(file)


def holds_every_table(file: Path) -> bool:
    """Whether a database is there with all tables; one that an older demo wrote may lack some."""
    if not file.exists():
        return False
    with closing(sqlite3.connect(file)) as connection:
        names = {
            name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")
        }
    return set(TABLES) <= names
