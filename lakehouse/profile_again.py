"""Profiles of partitions that a command changed: later ones would be compared with rows that are gone."""

from collections.abc import Collection
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings


def profile_again(
    settings: "Settings", catalog: "Catalog", table: str, partitions: Collection[date], by: str
) -> list[str]:
    """Profile what is published from the first to the last of these partitions, if the contract asks for it.

    Returns what is to be said: nothing, or that it could not be done and how to do it.
    """
    from lakehouse.quality.distribution.reprofile import reprofile
    from lakehouse.quarantined import contract_of

    try:
        contract = contract_of(settings, table)
        if contract is not None and contract.distribution is not None and partitions:
            reprofile(contract, catalog, settings, min(partitions), max(partitions), by)
    except StorageError as error:
        return [f"{table} was not profiled again, so run `lakehouse profile {table}`: {error}"]
    return []
