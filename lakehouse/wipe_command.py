"""`lakehouse wipe`: take partitions out of a table and out of Dagster's records."""

import getpass
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime

import click

SHOWN = 20  # partitions, and then how many there are


@click.command(short_help="Take partitions out of a table.")
@click.argument("table")
@click.option(
    "--partition",
    "partitions",
    type=click.DateTime(["%Y-%m-%d"]),
    multiple=True,
    help="A partition, such as 2013-02-01, which is also the month's; more than once for more of them.",
)
@click.option("--all", "everything", is_flag=True, help="All of its partitions.")
@click.option("--yes", is_flag=True, help="Do it. Without this nothing is changed.")
def wipe(table: str, partitions: tuple[datetime, ...], everything: bool, yes: bool) -> None:
    """Take partitions out of TABLE, such as `silver.flights`, and say first how many rows that are.

    It is one commit, and `lakehouse rollback` undoes it. Dagster then shows the partitions as missing, so
    that a sensor or the automation that is turned on builds them again from what is there. What was built
    from them, and what of them is in quarantine, stays.
    """
    from lakehouse.orchestration.project import project_instance
    from lakehouse.orchestration.wipe import carried_out, recorded
    from lakehouse.settings import Settings
    from lakehouse.terminal import echo_columns
    from lakehouse.wipe import plan

    if everything == bool(partitions):
        raise click.UsageError("Name partitions with --partition, or all of them with --all.")
    settings, table = Settings(), table.lower()
    days = None if everything else {each.date() for each in partitions}
    planned = plan(settings, table, days)
    with project_instance(settings) as instance:
        known = recorded(instance, table, days)
        there = sorted({*planned.rows, *known})
        if not there:
            click.echo(f"{table} has none of these partitions: nothing to do.")
            return
        echo_columns([("partition", "rows", "in Dagster"), *_lines(planned.rows, known)])
        if not yes:
            click.echo("Nothing was changed. Do it with --yes.")
            return
        notes = carried_out(settings, planned, known, getpass.getuser(), instance)
    click.echo(f"{len(there)} partitions of {table} are wiped.")
    for note in notes:
        click.echo(note)
    if planned.rows:
        click.echo(f"To undo it: `lakehouse rollback {table} --to {planned.snapshot_id}`.")


def _lines(rows: Mapping[date, int], known: Collection[date]) -> Iterator[tuple[str, ...]]:
    """A line for each of the first partitions, and one for the rest."""
    days = sorted({*rows, *known})
    for day in days[:SHOWN]:
        yield day.isoformat(), f"{rows.get(day, 0):,}", "materialized" if day in known else "missing"
    rest = days[SHOWN:]
    if rest:
        counted = sum(day in known for day in rest)
        yield f"{len(rest)} more", f"{sum(rows.get(day, 0) for day in rest):,}", f"{counted} materialized"
