"""`lakehouse stale`: which partitions a changed model has left behind."""

import click


@click.command(short_help="List partitions that a changed model has left behind.")
@click.argument("table", required=False)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def stale(table: str | None, form: str) -> None:
    """List what of TABLE, or of all tables, was built by other SQL than its model has now.

    The project's macros that a model calls count too. Nothing is built: the last column is what the field
    for partitions in the UI's Materialize takes.
    """
    import json

    from lakehouse.orchestration.project import load_definitions, project_instance
    from lakehouse.orchestration.stale import STALE_HEADER
    from lakehouse.orchestration.stale import stale as found
    from lakehouse.query_errors import no_such_table
    from lakehouse.settings import Settings
    from lakehouse.terminal import echo_columns

    settings = Settings()
    with project_instance(settings) as instance:
        specs = {
            ".".join(spec.key.path): spec
            for spec in load_definitions(settings.project_dir).resolve_all_asset_specs()
        }
        if table and table.lower() not in specs:
            raise no_such_table(table, sorted(specs))
        wanted = [specs[table.lower()]] if table else [specs[name] for name in sorted(specs)]
        left = list(found(instance, wanted))
    if form == "json":
        click.echo(json.dumps([vars(each) for each in left], indent=2))
    elif left:
        echo_columns([STALE_HEADER, *(each.cells() for each in left)])
    else:
        click.echo(f"All that is built of {table or 'the tables'} is built by the models as they are.")
