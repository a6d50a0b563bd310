"""`lakehouse rollback`: set a table back to what it was, alone or with all that is built from it."""

import getpass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lakehouse.rollback import Plan
    from lakehouse.settings import Settings
    from lakehouse.storage.rollback import Rollback


@click.command()
@click.argument("table")
@click.option(
    "--to",
    required=True,
    help="A snapshot, a branch or tag, or a time in UTC; `lakehouse history` lists snapshots and times.",
)
@click.option("--downstream", is_flag=True, help="Set back what was built from TABLE too, to that time.")
@click.option("--yes", is_flag=True, help="Do it. Without this nothing is changed.")
def rollback(table: str, to: str, downstream: bool, yes: bool) -> None:
    """Set TABLE, such as `silver.flights`, back to what it was, and say first what that changes.

    It is one commit a table, without any data written, and can be undone by another rollback. Dagster is told
    which partitions changed. What quarantine held then is there again.
    """
    from lakehouse.rollback import ROLLBACK_HEADER, moment_text, plan, rollback_cells
    from lakehouse.settings import Settings
    from lakehouse.terminal import echo_columns

    settings, table = Settings(), table.lower()
    below = _downstream(settings, table) if downstream else []
    planned = plan(settings, table, to, below)
    if not planned.tables:
        click.echo(f"{table} is what it was {moment_text(planned)}: nothing to do.")
        return
    echo_columns([ROLLBACK_HEADER, *map(rollback_cells, planned.tables)])
    if not yes:
        click.echo("Nothing was changed. Do it with --yes.")
        return
    for done in _carried_out(settings, planned):
        click.echo(f"{done.table} was set back to what it was {moment_text(planned)}.")
    for note in planned.notes:
        click.echo(note)


def _carried_out(settings: "Settings", planned: "Plan") -> "Iterator[Rollback]":
    """Each table when it is set back; Dagster knows when all are."""
    from lakehouse.orchestration.project import project_instance
    from lakehouse.orchestration.rollback import carried_out

    with project_instance(settings) as instance:
        yield from carried_out(
            settings, planned, getpass.getuser(), instance, instance.report_runless_asset_event
        )


def _downstream(settings: "Settings", table: str) -> list[str]:
    from lakehouse.orchestration.rollback import downstream_of

    return downstream_of(settings, table)
