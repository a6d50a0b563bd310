"""`lakehouse contract`: verify contracts, compare two versions of one, draft one from a table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from lakehouse.quality.contracts import Contracts
    from lakehouse.settings import Settings


@click.group()
def contract() -> None:
    """Work on contracts, the files in `checks/`."""


@contract.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.pass_context
def verify(context: click.Context, tables: tuple[str, ...]) -> None:
    """Say of each contract, or those of the TABLEs, what is wrong with it.

    It must be readable, its checks must run, and it must agree with its dbt model and, once that is built,
    with its table. A line for each contract; the exit status is 1 if anything is wrong.
    """
    from lakehouse.ingest.columns import read_columns
    from lakehouse.quality.model_docs import read_models
    from lakehouse.quality.verify import Verifier

    settings = _settings()
    contracts = _contracts(settings)
    verifier = Verifier(contracts, read_models(settings.dbt_dir), _catalog(settings), read_columns)
    verdicts = 0
    wrong = False
    for verdict in verifier.verify(tables):
        click.echo(verdict.line())
        verdicts, wrong = verdicts + 1, wrong or bool(verdict.faults)
    if not verdicts:
        click.echo(f"There are no contracts in {contracts.folder}.")
    context.exit(int(wrong))


@contract.command()
@click.argument("old", type=Path)
@click.argument("new", type=Path)
@click.pass_context
def diff(context: click.Context, old: Path, new: Path) -> None:
    """Compare two versions of a contract, the files OLD and NEW, and say which version NEW needs.

    A line for each difference: breaking, if readers could rely on something that no longer holds, or
    compatible. The exit status is 1 if NEW has too low a version. With the last commit's, in bash:

    \b
    lakehouse contract diff <(git show HEAD:checks/silver/flights.yml) checks/silver/flights.yml
    """  # noqa: D301  (click wants the character)
    from lakehouse.quality.contract_diff import differences, read_version
    from lakehouse.quality.version_step import version_verdict

    before, after = read_version(old), read_version(new)
    found = differences(before, after, _settings())
    for difference in found:
        click.echo(difference.line())
    enough, sentence = version_verdict(before.version, after.version, found)
    click.echo(sentence)
    context.exit(int(not enough))


@contract.command()
@click.argument("table")
@click.option("--write", is_flag=True, help="Write it to checks/<layer>/<table>.yml, where none is yet.")
def new(table: str, write: bool) -> None:
    """Draft a contract from the rows of TABLE, such as `silver.flights`, and print it.

    It says what is true of the rows that are there: types, what is never null, what is unique, the values of
    columns with few. It leaves open what a person has to decide, as TODO and as comments.
    """
    from lakehouse.catalog import metadata_locations, open_catalog
    from lakehouse.quality.contract_draft import draft_of
    from lakehouse.quality.draft_file import refuse_existing, write_draft
    from lakehouse.quality.errors import ContractError
    from lakehouse.quality.model_docs import read_models
    from lakehouse.storage import duckdb_session
    from lakehouse.storage.tables import load_table

    settings = _settings()
    contracts = _contracts(settings)
    file = contracts.file(table)
    if write:
        refuse_existing(file)
    held = load_table(open_catalog(settings), table) if metadata_locations(settings) else None
    if held is None:
        raise ContractError(
            f"There is no table {table} to draft from. `lakehouse tables` lists those there are."
        )
    connection = duckdb_session.connect(settings)
    draft = draft_of(connection, held, [*contracts.load_columns], read_models(settings.dbt_dir).get(table))
    text = draft.text(settings)
    if not write:
        click.echo(text, nl=False)
        return
    write_draft(file, text)
    click.echo(f"Written: {file}. Write what is TODO, then run `lakehouse contract verify {table}`.")


def _contracts(settings: "Settings") -> "Contracts":
    from lakehouse.ingest.source import LOAD_COLUMNS
    from lakehouse.quality.contracts import Contracts

    return Contracts(settings.contracts_dir, {column.name: column.type for column in LOAD_COLUMNS})


def _catalog(settings: "Settings") -> "Catalog | None":
    """The catalog, None if there is none yet or it does not answer."""
    from lakehouse.catalog import metadata_locations, open_catalog
    from lakehouse.storage.errors import CatalogError

    try:
        return open_catalog(settings) if metadata_locations(settings) else None
    except CatalogError as error:
        click.echo(f"Tables are not looked at: {error}", err=True)
        return None


def _settings() -> "Settings":
    from lakehouse.settings import Settings

    return Settings()
