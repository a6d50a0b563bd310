"""`lakehouse profile`: profile what is published already."""

from datetime import datetime

import click


@click.command()
@click.argument("table")
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), help="The first partition; all without.")
@click.option("--to", "last", type=click.DateTime(["%Y-%m-%d"]), help="The last partition.")
def profile(table: str, first: datetime | None, last: datetime | None) -> None:
    """Profile what is published of TABLE, for its next partitions to be compared with.

    Each write does so for its own partitions. This is for those from before the contract asked for
    `distribution`, and for those that lost theirs.
    """
    from lakehouse.catalog import open_catalog
    from lakehouse.quality.contracts import Contracts
    from lakehouse.quality.distribution.reprofile import reprofile
    from lakehouse.settings import Settings

    settings = Settings()
    contract = Contracts(settings.contracts_dir, {}).read(table)
    days = (first.date() if first else None, last.date() if last else None)
    partitions = reprofile(contract, open_catalog(settings), settings, *days)
    click.echo(f"{partitions} partitions of {table} are profiled.")
