"""A drafted contract becomes a file: whole or not at all, and never over another."""

import os
import uuid
from contextlib import suppress
from pathlib import Path

from lakehouse.quality.errors import ContractError
from lakehouse.storage.errors import disk_reason


def write_draft(file: Path, text: str) -> None:
    """Write a contract that is not there yet, whole or not at all.

    Raises:
        ContractError: there is one, or it cannot be written.
    """
    unfinished = file.with_name(f".{file.name}.{uuid.uuid4().hex[:8]}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        os.link(unfinished, file)  # fails if there is one
    except OSError as error:
        refuse_existing(file)
        raise ContractError(f"{file} cannot be written: {disk_reason(error)}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()


def refuse_existing(file: Path) -> None:
    """Never write over a contract.

    Raises:
        ContractError: there is one.
    """
    if file.exists():
        raise ContractError(
            f"{file} is there already and stays as it is. Leave out --write to see what a draft would say."
        )
