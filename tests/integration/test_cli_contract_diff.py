"""`lakehouse contract diff`: what breaks readers is told, and whether the version says so."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lakehouse.cli import main

FLIGHTS = """
dataset: lakehouse/silver/flights
version: "1.0.0"
owner: team:flights
tier: 2
columns:
  - name: flight
    data_type: integer
    description: Flight number.
  - name: dest
    data_type: varchar
    description: Where it goes.
"""


def diff(*files: Path | str) -> Result:
    return CliRunner().invoke(main, ["contract", "diff", *map(str, files)])


def write(file: Path, *changes: tuple[str, str]) -> Path:
    text = FLIGHTS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    return file


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old.yml")


def test_a_breaking_change_needs_a_major_version(tmp_path: Path, old: Path) -> None:
    changes = [("name: dest", "name: destination"), ("Flight number.", "Number of the flight.")]

    refused = diff(old, write(tmp_path / "new.yml", *changes))
    accepted = diff(old, write(tmp_path / "new.yml", *changes, ("1.0.0", "2.0.0")))

    assert refused.exit_code == 1 and accepted.exit_code == 0
    lines = refused.output.splitlines()
    assert lines[:-1] == accepted.output.splitlines()[:-1]
    assert lines[0].startswith("breaking    column dest removed, or renamed to destination")
    assert lines[1] == "compatible  column destination added, varchar"
    assert lines[2].startswith("compatible  column flight: the description changed")
    assert lines[3].endswith("but it is 1.0.0. Write 2.0.0.")


def test_a_version_may_come_from_a_pipe(tmp_path: Path, old: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, old.read_bytes())
    os.close(writing)

    result = diff(f"/dev/fd/{reading}", write(tmp_path / "new.yml", ("1.0.0", "1.1.0")))

    os.close(reading)
    assert (result.exit_code, result.output) == (0, "Nothing differs but the version.\n")


def test_what_cannot_be_compared_is_said_in_a_sentence(tmp_path: Path, old: Path) -> None:
    absent = diff(old, tmp_path / "absent.yml")
    other = diff(old, write(tmp_path / "new.yml", ("silver/flights", "silver/planes")))
    wrong = diff(old, write(tmp_path / "wrong.yml", ("tier: 2", "tier: 9")))

    assert absent.exit_code == other.exit_code == wrong.exit_code == 1
    assert absent.output == f"Error: {tmp_path}/absent.yml cannot be read: No such file or directory.\n"
    assert other.output.startswith(
        "Error: The old contract is of silver.flights, the new one of silver.planes"
    )
    assert wrong.output == f"Error: {tmp_path}/wrong.yml: tier is 9; known are 1, 2 and 3.\n"


@pytest.mark.parametrize("command", [["contract", "diff"], ["query"]])
def test_the_help_keeps_its_lines(command: list[str]) -> None:
    shown = CliRunner().invoke(main, [*command, "--help"]).output

    assert "\\b" not in shown
    assert "\n  lakehouse contract diff <(git show" in shown or "\n  csv    all rows" in shown
