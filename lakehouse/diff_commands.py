"""`lakehouse clone` and `lakehouse diff`: try a change beside the live tables, and see what it does."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lakehouse.settings import Settings


@click.command()
@click.argument("table")
@click.option("--from", "old", help="A snapshot id, branch, tag or UTC time. [default: the parent of --to]")
@click.option("--to", "new", help="The same. [default: the current snapshot]")
@click.option(
    "--partition",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Of this partition alone; a month is named by its first day.",
)
@click.option("--key", help="Columns that tell the rows apart, with commas. [default: the contract's key]")
@click.option("--no-key", is_flag=True, help="Compare rows as wholes: none is changed, only gone or new.")
@click.option("--ignore", multiple=True, help="A column that is not compared; may be given several times.")
@click.option("--all-columns", is_flag=True, help="Compare _load_id and _loaded_at too, new at each load.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Rows of each kind to show."
)
@click.option("--unmasked", is_flag=True, help="Show columns that say something of a person too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def diff(
    context: click.Context,
    table: str,
    old: str | None,
    new: str | None,
    partition: datetime | None,
    key: str | None,
    no_key: bool,
    ignore: tuple[str, ...],
    all_columns: bool,
    limit: int,
    unmasked: bool,
    as_json: bool,
) -> None:
    """Compare two snapshots of TABLE, such as `silver.flights`: columns, rows, and values by column.

    Rows are paired by the key that the contract declares (a `duplicate` check that blocks); without one a
    row is the same or not. Files that both snapshots have are not read.

    The exit status is 0 where nothing differs, 1 where something does, 2 where nothing could be compared.
    """
    from lakehouse.diff.asked import OF_THE_LOAD, diff_of
    from lakehouse.diff.text import json_of, lines_of

    if key and no_key:
        raise click.UsageError("--key and --no-key exclude one another.")
    named = tuple(part.strip() for part in key.split(",")) if key else None
    found = diff_of(
        _settings(),
        table,
        old,
        new,
        key=() if no_key else named,
        ignored=frozenset(ignore) | (frozenset() if all_columns else OF_THE_LOAD),
        partition=partition.date() if partition else None,
        limit=limit,
        unmasked=unmasked,
    )
    click.echo(json_of(found) if as_json else "\n".join(lines_of(found)))
    context.exit(int(found.differs))


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def clone(folder: Path) -> None:
    """Make a lakehouse in FOLDER that begins with all tables as they are now, to try a change in.

    No row is copied, and nothing that is written there is seen here. Remove the folder when you are done.
    """
    from lakehouse.clone import LIVE
    from lakehouse.clone import clone as make

    names = make(_settings(), folder)
    click.echo(f"{len(names)} tables are in {folder}. To work there:")
    click.echo(f"  export LAKEHOUSE_DATA_DIR={folder.resolve()} LAKEHOUSE_CATALOG_URI=")
    click.echo("Build what you changed, then see what it does:")
    click.echo(f"  lakehouse diff layer.table --from {LIVE}")


def _settings() -> "Settings":
    from lakehouse.settings import Settings

    return Settings()
