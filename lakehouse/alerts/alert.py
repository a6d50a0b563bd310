"""The one place through which everything that went wrong in a step goes: to the log, and to who is told."""

import logging
import sqlite3
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakehouse.alerts.memory import Memory
from lakehouse.alerts.message import Message, message_of
from lakehouse.alerts.outcome import Finding, Kind, StepOutcome, TableOutcome
from lakehouse.alerts.targets import send, targets_of

if TYPE_CHECKING:
    from lakehouse.settings import Settings

FILE = "alerts.db"


def alert(settings: "Settings", step: StepOutcome, log: logging.Logger) -> None:
    """Tell each owner what went wrong with the tables, once; nothing, if nothing did.

    It never fails: a load must not, because nobody could be told of it.
    """
    try:
        _forget_mended(settings, step, log)
        for tables in step.by_owner(warnings=settings.alert_warnings):
            _tell(settings, step, tables, log)
    except Exception as error:  # its text may hold a target's token
        log.error("An alert could not be given: %s.", type(error).__name__)


def _tell(
    settings: "Settings", step: StepOutcome, tables: Sequence[TableOutcome], log: logging.Logger
) -> None:
    message = message_of(tables, step.run_id, settings.dagster_url)
    log.warning("%s\n%s", message.title, message.body)
    if settings.alert_urls is None:
        return
    findings = [
        one
        for table in tables
        for one in table.findings
        if one.kind != Kind.WARNING or settings.alert_warnings
    ]
    news = _claim(settings, findings, tables, log)
    if not news:
        log.info(
            "No alert is sent: one said all of this less than %g minutes ago.", settings.alert_repeat_minutes
        )
        return
    if not _sent(settings, message, log):
        _memory(settings).forget(one.key for one in news)


def _sent(settings: "Settings", message: Message, log: logging.Logger) -> bool:
    """Whether any target took it."""
    targets = targets_of(settings.alert_urls)
    answers = send(targets, message, settings.alert_timeout_seconds)
    for answer in answers:
        if answer.refusal:
            log.error("The alert did not reach %s: %s.", answer.target.name, answer.refusal.rstrip("."))
        else:
            log.info("The alert was sent to %s.", answer.target.name)
    return any(not answer.refusal for answer in answers)


def _claim(
    settings: "Settings", findings: Sequence[Finding], tables: Sequence[TableOutcome], log: logging.Logger
) -> Sequence[Finding]:
    """Those that were not told yet; all, if nobody can say."""
    adding = frozenset(table.table for table in tables if table.adds)
    try:
        return _memory(settings).claim(findings, adding=adding, now=time.time())
    except (sqlite3.Error, OSError) as error:
        log.error(
            "What was told already is not known, so that all is: %s: %s.", _memory(settings).file, error
        )
        return findings


def _forget_mended(settings: "Settings", step: StepOutcome, log: logging.Logger) -> None:
    mended = [key for table in step.tables for key in table.mended]
    if not mended:
        return
    try:
        _memory(settings).forget(mended)
    except (sqlite3.Error, OSError) as error:
        log.error("It could not be noted what is mended: %s: %s.", _memory(settings).file, error)


def _memory(settings: "Settings") -> Memory:
    return Memory(settings.data_dir.resolve() / FILE, settings.alert_repeat_minutes * 60)
