"""Profiles of what is published already: of tables from before their contract asked, or that lost some."""

from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.quality.distribution.profile import PartitionProfile
from lakehouse.quality.distribution.profile_table import ProfileTable, Span
from lakehouse.quality.distribution.profiling import profile
from lakehouse.quality.errors import ContractError
from lakehouse.quality.published import published_rows
from lakehouse.storage import duckdb_session
from lakehouse.storage.errors import StorageError, reason
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from lakehouse.quality.contract import Contract
    from lakehouse.settings import Settings


def reprofile(
    contract: "Contract",
    catalog: "Catalog",
    settings: "Settings",
    first: date | None = None,
    last: date | None = None,
    run_id: str = "by-hand",
) -> int:
    """Profile the partitions from `first` to `last`, both included; returns how many there are.

    Their profiles, and those of partitions that are not there any more, are replaced in one commit.

    Raises:
        ContractError: the contract asks for no distribution, or the rows are not as it says.
        StorageError: the table was never built, has no partitions, or cannot be read.
    """
    import duckdb

    if contract.distribution is None:
        raise ContractError(f"The contract of {contract.table} asks for no `distribution`: add it first.")
    table = load_table(catalog, contract.table)
    if table is None:
        raise StorageError(f"{contract.table} does not exist yet: materialize it first.")
    fields = table.spec().fields
    if not fields:
        raise StorageError(f"{contract.table} has no partitions: there are none to compare.")
    partition_by = table.schema().find_column_name(fields[0].source_id) or ""
    rows = {
        day: relation
        for day, relation in published_rows(table, partition_by).items()
        if day is not None and (first is None or day >= first) and (last is None or day <= last)
    }
    profiles: dict[date, PartitionProfile] = {}
    with closing(duckdb_session.connect(settings)) as connection:
        try:
            for start in range(0, len(rows), settings.chunk_partitions):
                chunk = list(rows.values())[start : start + settings.chunk_partitions]
                relation = " union all by name ".join(chunk)
                profiles |= profile(connection, relation, partition_by, contract.distribution.columns)
            kept = ProfileTable(catalog, contract.table, settings.keep_snapshots)
            snapshot_id = table.metadata.current_snapshot_id
            kept.replace(connection, [*profiles.values()], Span(first, last), run_id, snapshot_id)
        except duckdb.Error as error:
            raise ContractError(f"{contract.table} cannot be profiled: {reason(error)}") from error
    return len(profiles)
