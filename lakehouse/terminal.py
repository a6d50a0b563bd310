"""What the commands print: columns, boxes and the words of an error."""

import shutil
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHOWN_ROWS = 100
FULL_WIDTH = 100_000  # characters: in a pipe no column is left out


def echo_columns(rows: list[tuple[str, ...]]) -> None:
    """Print cells in columns: the first one to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        click.echo("  ".join((name.ljust(widths[0]), *cells)).rstrip())


def print_answer(connection: "DuckDBPyConnection", form: str, rows: int = SHOWN_ROWS) -> None:
    """Print what `answer` gives: the first rows as a table, or all as csv or json.

    Raises:
        QueryError: the rows cannot be computed.
    """
    import duckdb

    from lakehouse import formats
    from lakehouse.query import ANSWER
    from lakehouse.query_errors import QueryError, plain

    try:
        if form == "table":
            show(connection, rows)
        elif form == "csv":
            sys.stdout.writelines(formats.csv_lines(connection, ANSWER))
        else:
            sys.stdout.writelines(formats.json_lines(connection, ANSWER))
    except duckdb.Error as error:  # found only while the rows are computed
        raise QueryError(plain(error)) from error
    except RuntimeError as error:  # DuckDB's word for Ctrl-C
        if "interrupted" in str(error):
            raise click.Abort from error
        raise


def show(connection: "DuckDBPyConnection", rows: int = SHOWN_ROWS) -> None:
    """Print the first rows as a box."""
    from lakehouse.query import ANSWER, EXPLAINED

    # Kept aside, so that the rows are computed once.
    connection.execute(f"create temp table shown as from {ANSWER} limit {rows + 1}")
    shown = connection.table("shown")
    if shown.columns == EXPLAINED:
        for _, plan in shown.fetchall():
            click.echo(plan)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else FULL_WIDTH
    shown.limit(rows).show(max_width=width, max_rows=rows)
    if len(shown) > rows:
        click.echo(f"There are more than these {rows} rows: `--format csv` gives all.", err=True)


def message(error: Exception) -> str:
    """What to tell the user: the error's own words where they were written for one."""
    from pydantic import ValidationError

    from lakehouse.quality.errors import ContractError
    from lakehouse.storage.errors import StorageError

    if isinstance(error, StorageError | ContractError):
        return str(error)
    if isinstance(error, ValidationError):  # of the settings, the only thing validated here
        return "; ".join(
            f"LAKEHOUSE_{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        )
    first_line = (str(error) or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first_line}. `lakehouse --debug …` shows where."
