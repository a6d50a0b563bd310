"""`lakehouse alert`: whether alerts would reach whom they should."""

import click


@click.group()
def alert() -> None:
    """See whether alerts arrive."""


@alert.command()
@click.pass_context
def test(context: click.Context) -> None:
    """Send a test message to every target of LAKEHOUSE_ALERT_URLS and say which took it.

    The exit status is 1 unless all did.
    """
    from lakehouse.alerts.message import Message
    from lakehouse.alerts.targets import send, targets_of
    from lakehouse.settings import Settings

    settings = Settings()
    targets = targets_of(settings.alert_urls)
    if not targets:
        raise click.ClickException("LAKEHOUSE_ALERT_URLS is not set: alerts are only in the log.")
    message = Message(
        "[warning] Test alert of the lakehouse",
        f"Nothing is wrong. Alerts link to runs in {settings.dagster_url}.",
        "warning",
    )
    answers = send(targets, message, settings.alert_timeout_seconds)
    for answer in answers:
        said = f"did not take it: {answer.refusal.rstrip('.')}." if answer.refusal else "took it."
        click.echo(f"{answer.target.name} {said}")
    context.exit(int(any(answer.refusal for answer in answers)))
