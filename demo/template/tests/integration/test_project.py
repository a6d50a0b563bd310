"""This project's own parts fit together: what `make dev` would load, loads."""

import dagster as dg

from lakehouse.ingest.columns import read_columns
from lakehouse.settings import Settings


def test_the_definitions_load() -> None:
    from lakehouse.definitions import defs

    dg.Definitions.validate_loadable(defs)


def test_every_contract_can_be_read() -> None:
    for contract in Settings().contracts_dir.rglob("*.yml"):
        assert read_columns(contract), contract
