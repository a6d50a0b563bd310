"""Whatever is wrong with an alert itself, the load goes on and the log says so, without a secret."""

import logging
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from lakehouse.alerts import alert as alerts
from lakehouse.alerts.outcome import Finding, Kind, StepOutcome, TableOutcome
from lakehouse.settings import Settings

SECRET = "t0k3n"
STEP = StepOutcome(
    "r1", [TableOutcome("silver.t", "team:t", findings=[Finding(Kind.STEP, "silver.t", "", Kind.STEP)])]
)
LOG = logging.getLogger("a run")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", alert_urls=SecretStr(f"json://127.0.0.1:1/{SECRET}"))


def test_a_file_of_what_was_told_that_cannot_be_read(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.data_dir / alerts.FILE).mkdir(parents=True)
    alerts.alert(settings, STEP, LOG)
    assert "What was told already is not known, so that all is" in caplog.text
    assert "The alert did not reach target 1 (json://***): " in caplog.text  # it was sent all the same
    assert SECRET not in caplog.text


def test_a_process_that_does_not_start_leaves_the_finding_untold(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    alerts.alert(settings, STEP, LOG)
    assert "no process could be started to send it" in caplog.text
    with closing(sqlite3.connect(settings.data_dir / alerts.FILE)) as told:
        assert told.execute("select count(*) from told").fetchall() == [(0,)]


def test_an_error_of_our_own(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError(f"json://host/{SECRET}")

    monkeypatch.setattr(alerts, "send", fail)
    alerts.alert(settings, STEP, LOG)
    assert "An alert could not be given: RuntimeError." in caplog.text
    assert SECRET not in caplog.text


def test_without_targets_it_is_in_the_log_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(data_dir=tmp_path / "data", alert_urls=None)
    alerts.alert(settings, STEP, LOG)
    assert "[error] silver.t: the step failed" in caplog.text
    assert not (settings.data_dir / alerts.FILE).exists()
