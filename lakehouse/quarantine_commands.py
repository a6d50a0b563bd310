"""`lakehouse quarantine`: what was set aside, the rows themselves, and their way back into the tables."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lakehouse.settings import Settings

FORM = click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
PARTITION = click.option(
    "--partition",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Of this partition alone; a month is named by its first day.",
)


@click.group()
def quarantine() -> None:
    """Look at rows that a table did not take, and load them again once they are mended."""


@quarantine.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_held(form: str) -> None:
    """List what is in quarantine: rows and values of each table and partition, by the rule they broke.

    A row in quarantine is not in its table. Of a value the row is, with null in its place.
    """
    import json

    from lakehouse.quarantined import HELD_HEADER, held_in_quarantine
    from lakehouse.terminal import echo_columns

    held = held_in_quarantine(_settings())
    if form == "json":
        click.echo(json.dumps([vars(each) for each in held], indent=2))
    elif held:
        echo_columns([HELD_HEADER, *(each.cells() for each in held)])
    else:
        click.echo("Nothing is in quarantine.")


@quarantine.command()
@click.argument("table")
@PARTITION
@click.option("--rule", help="Of those that broke this rule alone, as `lakehouse quarantine list` names it.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many to show.")
@click.option("--unmasked", is_flag=True, help="Show columns that say something of a person too.")
@FORM
def show(
    table: str, partition: datetime | None, rule: str | None, limit: int, unmasked: bool, form: str
) -> None:
    """Show the rows that TABLE, such as `silver.flights`, did not take, each with the reason and its origin.

    Values of columns that the contract gives a pii class are masked.
    """
    from lakehouse.quarantined import held_in_quarantine, open_quarantine, table_named
    from lakehouse.terminal import print_answer

    settings = _settings()
    table, day = table_named(settings, table), partition.date() if partition else None
    total = 0
    if held_in_quarantine(settings, table):
        connection, total = open_quarantine(settings, table, day, rule, limit, unmasked=unmasked)
        if total:
            print_answer(connection, form, limit)
    if not total:
        nothing = {"table": f"Nothing of {table}{_of(day, rule)} is in quarantine.", "json": "[]"}
        click.echo(nothing.get(form, ""), nl=form in nothing)
    if total > limit:
        click.echo(f"These are {limit} of {total}: --limit shows more.", err=True)


@quarantine.command()
@click.argument("table")
@PARTITION
@click.pass_context
def replay(context: click.Context, table: str, partition: datetime | None) -> None:
    """Load again what TABLE has in quarantine, once the source, the contract or what it refers to is mended.

    Partitions that have rows there are built again from their source. Of a table that its source adds to
    (append, merge) the rows are loaded from quarantine. It is a run of Dagster's, with all checks, and no row
    counts twice. The exit status is 1 if anything is still in quarantine.
    """
    from lakehouse.quarantined import table_named
    from lakehouse.replay import OUTCOME_HEADER, still_there
    from lakehouse.replay import replay as run
    from lakehouse.terminal import echo_columns

    settings = _settings()
    table, day = table_named(settings, table), f"{partition:%Y-%m-%d}" if partition else None
    replayed = run(settings, table, day)
    if not replayed.outcomes:
        click.echo(f"Nothing of {table}{_of(day, None)} is in quarantine: nothing was built.")
        return
    echo_columns([OUTCOME_HEADER, *(outcome.cells() for outcome in replayed.outcomes)])
    for said in replayed.failures:
        click.echo(f"Error: {said}", err=True)
    if replayed.left:
        click.echo("Still in quarantine:")
        for line in still_there(settings, table, day):
            click.echo(f"  {line}")
    for note in replayed.notes:
        click.echo(note)
    context.exit(1 if replayed.failures or replayed.left else 0)


def _of(day: object, rule: str | None) -> str:
    """What was asked for, in a sentence."""
    return (f", {day}" if day else "") + (f", {rule}" if rule else "")


def _settings() -> "Settings":
    from lakehouse.settings import Settings

    return Settings()
