"""`lakehouse report`: the quality of all tables as one HTML page."""

from pathlib import Path

import click


@click.command()
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write. [default: reports/quality.html in the data folder]",
)
def report(output: Path | None) -> None:
    """Write the quality of all tables as one HTML page that needs nothing else: mail it, print it, keep it.

    It says what the checks came to when they last ran, and runs none.
    """
    from lakehouse.settings import Settings

    settings = Settings()
    output = output.resolve() if output else None
    from lakehouse.operations.report_asset import write_report
    from lakehouse.orchestration.project import load_definitions, project_instance

    with project_instance(settings) as instance:
        defs = load_definitions(settings.project_dir)
        written, file = write_report(settings, instance, defs, output)
    score = (
        "nothing was judged yet" if written.score is None else f"score {int(written.score * 10) / 10} of 100"
    )
    click.echo(f"{file}: {score}, {written.failed} checks failed, {written.warned} warned.")
    for sentence in written.trouble:
        click.echo(f"Not in the report: {sentence}", err=True)
