"""The command line. Each command imports what it needs when it runs, so that help is immediate."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from lakehouse.alert_commands import alert
from lakehouse.contract_cli import contract
from lakehouse.diff_commands import clone, diff
from lakehouse.profile_command import profile
from lakehouse.quarantine_commands import quarantine
from lakehouse.report_commands import report
from lakehouse.rollback_command import rollback
from lakehouse.stale_command import stale
from lakehouse.wipe_command import wipe

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from lakehouse.settings import Settings


# Packages beside this one add commands by an entry point of this group.
COMMANDS = "lakehouse.commands"


class _Group(click.Group):
    """Turns errors into one message; the stack trace is for `--debug`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Our own commands and those that other packages add."""
        return sorted({*super().list_commands(ctx), *_added_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        added = _added_commands().get(cmd_name)
        command: click.Command | None = added.load() if added else None
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            from lakehouse.terminal import message

            click.echo(f"Error: {message(error)}", err=True)
            ctx.exit(getattr(error, "exit_code", 1))


def _added_commands() -> "dict[str, EntryPoint]":
    """The entry points by name, without those whose package was removed since it was installed."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    return {
        entry.name: entry
        for entry in entry_points(group=COMMANDS)
        if find_spec(entry.module.partition(".")[0]) is not None
    }


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the stack trace of an error.")
def main(debug: bool) -> None:
    """Look into the lakehouse."""


main.add_command(alert)
main.add_command(clone)
main.add_command(contract)
main.add_command(diff)


class Moment(click.ParamType[datetime]):
    """A time as ISO 8601 has it, in UTC where it names no zone."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Refuses what is no time."""
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            self.fail(f"{value!r} is no time such as 2013-05-01 or '2013-05-01 23:30:00.250'.", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@main.command()
@click.argument("sql")
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
@click.option(
    "--as-of",
    type=Moment(),
    help="Read the tables as they were at this time, in UTC; `lakehouse history` lists the times.",
)
def query(sql: str, form: str, as_of: datetime | None) -> None:
    """Answer a SELECT over the tables, such as `select * from gold.x`. `-` reads the SQL from stdin.

    DESCRIBE layer.table, SUMMARIZE and EXPLAIN work too. Nothing else does: no file can be written, and none
    read but those of the tables named.

    \b
    table  the first 100 rows; on a terminal, the columns that fit
    csv    all rows; null is nothing and an empty text is ""; nested values are JSON
    json   all rows as one array of objects; decimals keep all their digits; NaN and
           the infinities are the texts "NaN", "Infinity" and "-Infinity"
    Times are ISO 8601; those with a zone are in UTC and end in Z. Of two columns with
    one name the second gets a number.
    """  # noqa: D301  (click wants the character)
    from lakehouse.query import open_query
    from lakehouse.terminal import print_answer

    print_answer(open_query(_settings(), sys.stdin.read() if sql == "-" else sql, as_of), form)


@main.command()
@click.argument("table")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def history(table: str, form: str) -> None:
    """List the snapshots of TABLE, such as `silver.flights`, the newest first: when, by what, how many rows.

    Each can be read with `lakehouse query --as-of`.
    """
    import json

    from lakehouse.table_history import HISTORY_HEADER, history_cells, read_table_history
    from lakehouse.terminal import echo_columns

    entries = read_table_history(_settings(), table)
    if form == "json":
        click.echo(json.dumps([vars(entry) for entry in entries], default=str, indent=2))
    else:
        echo_columns([HISTORY_HEADER, *map(history_cells, entries)])


@main.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def tables(form: str) -> None:
    """List the tables with their size and last write, from metadata alone."""
    import json

    from lakehouse.overview import read_overviews
    from lakehouse.query_errors import NO_TABLES, QueryError
    from lakehouse.terminal import echo_columns

    overviews, failures = read_overviews(_settings())
    rows = [overview.cells() for overview in overviews]
    if form == "json":
        click.echo(json.dumps([vars(overview) for overview in overviews], default=str, indent=2))
    elif rows:
        echo_columns([("name", "rows", "partitions", "size", "snapshots", "last written (UTC)"), *rows])
    elif not failures:
        click.echo(NO_TABLES)
    if failures:
        raise QueryError("\n".join(failures))


@main.command()
@click.argument("table", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
def maintain(table: str | None, dry_run: bool) -> None:
    """Remove old files that no snapshot of TABLE (or of any table) names, and what killed runs left.

    Snapshots beyond the newest LAKEHOUSE_KEEP_SNAPSHOTS are dropped by each write; this removes their files,
    once they are LAKEHOUSE_MAINTAIN_AFTER_HOURS old.
    """
    from lakehouse.maintain import maintain as run
    from lakehouse.overview import size
    from lakehouse.terminal import echo_columns

    rows = [
        (removed.what, f"{removed.files:,}", size(removed.size_bytes))
        for removed in run(_settings(), table, dry_run=dry_run)
    ]
    echo_columns([("of", "files to remove" if dry_run else "files removed", "size"), *rows])


@main.command()
@click.pass_context
def doctor(context: click.Context) -> None:
    """Say what is installed, configured and reachable, and what to do about what is not.

    A line for each finding; the exit status is 1 if anything is broken.
    """
    from lakehouse.doctor import examine

    broken = False
    for finding in examine(_settings()):
        click.echo(finding.line())
        broken = broken or finding.state == "broken"
    context.exit(int(broken))


main.add_command(profile)
main.add_command(quarantine)
main.add_command(report)
main.add_command(rollback)
main.add_command(stale)
main.add_command(wipe)


def _settings() -> "Settings":
    from lakehouse.settings import Settings

    return Settings()


if __name__ == "__main__":
    main()
