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


def show(connection: "DuckDBPyConnection") -> None:
    """Print the first rows as a box."""
    from lakehouse.query import ANSWER, EXPLAINED

    # Kept aside, so that the rows are computed once.
    connection.execute(f"create temp table shown as from {ANSWER} limit {SHOWN_ROWS + 1}")
    shown = connection.table("shown")
    if shown.columns == EXPLAINED:
        for _, plan in shown.fetchall():
            click.echo(plan)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else FULL_WIDTH
    shown.limit(SHOWN_ROWS).show(max_width=width, max_rows=SHOWN_ROWS)
    if len(shown) > SHOWN_ROWS:
        click.echo(f"There are more than these {SHOWN_ROWS} rows: `--format csv` gives all.", err=True)


def message(error: Exception) -> str:
    """What to tell the user: the error's own words where they were written for one."""
    from pydantic import ValidationError

    from lakehouse.storage.errors import StorageError

    if isinstance(error, StorageError):
        return str(error)
    if isinstance(error, ValidationError):  # of the settings, the only thing validated here
        return "; ".join(
            f"LAKEHOUSE_{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        )
    first_line = (str(error) or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first_line}. `lakehouse --debug …` shows where."
