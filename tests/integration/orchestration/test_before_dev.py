"""What stands in the way of `make dev` is said in a sentence, before Dagster starts."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from instances import QUIET

from lakehouse.orchestration.before_dev import main

MODULE = "calendar_of_a_test"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance of Dagster, and a module that reads the settings as `assets.partitions` does."""
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(QUIET))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / f"{MODULE}.py").write_text(
        "from datetime import date\n"
        "from lakehouse.clock import days_there_are\n"
        "from lakehouse.settings import Settings\n"
        "days_there_are(date(2013, 1, 1), None, Settings())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)


@pytest.fixture
def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.fixture
def used_port() -> Iterator[str]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield str(server.getsockname()[1])


def test_nothing_is_in_the_way(free_port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([free_port, MODULE]) == 0
    assert capsys.readouterr().err == ""


def test_a_port_in_use_is_told(used_port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([used_port, MODULE]) == 1
    assert capsys.readouterr().err.startswith(f"Port {used_port} cannot be had")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("LAKEHOUSE_TODAY", "2012-01-01", "LAKEHOUSE_TODAY is 2012-01-01, but the first day of the data is"),
        ("LAKEHOUSE_TODAY", "soon", "LAKEHOUSE_TODAY: "),
        ("LAKEHOUSE_DUCKDB_MEMORY", "lots", "LAKEHOUSE_DUCKDB_MEMORY: an amount of memory is 600MB"),
    ],
)
def test_a_setting_that_cannot_be_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    free_port: str,
    name: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(name, value)
    assert main([free_port, MODULE]) == 1
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert err.count("\n") == 1
