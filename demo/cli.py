"""`lakehouse demo`, also `python -m demo`: the command line finds it while this folder is there."""

from datetime import datetime

import click


@click.group()
def demo() -> None:
    """Write the demo's sources, and build the lakehouse from them."""


@demo.command()
@click.pass_context
def run(context: click.Context) -> None:
    """Write a year of sources and build what is missing of every layer, as `make demo` does."""
    from demo.run import run

    context.exit(run())


@demo.command()
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    help="A local day of 2013.",
)
def drop(day: datetime) -> None:
    """Write or rewrite the files of one day, to watch them arrive.

    A file appears whole, with the time of now.
    """
    from demo.seed import drop
    from lakehouse.settings import Settings

    source_dir = Settings().source_dir
    try:
        files = drop(source_dir, day.date())
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--date") from error
    for file, rows in files:
        click.echo(f"{file}: {rows:,} rows" if rows else f"{file}: empty, nothing was observed that day")
