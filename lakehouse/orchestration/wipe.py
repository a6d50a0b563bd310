"""A wipe as Dagster sees it: which partitions it records, and that it forgets those that are wiped."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg

from lakehouse.orchestration.forgotten import forgotten
from lakehouse.wipe import Wipe, carry_out

if TYPE_CHECKING:
    from lakehouse.settings import Settings


def recorded(instance: dg.DagsterInstance, table: str, partitions: Collection[date] | None) -> Sequence[date]:
    """Those of these partitions, or (None) of all, that Dagster shows as materialized, in order."""
    there = {date.fromisoformat(key) for key in instance.get_materialized_partitions(_key(table))}
    return sorted(there if partitions is None else there & {*partitions})


def carried_out(
    settings: "Settings", planned: Wipe, known: Sequence[date], by: str, instance: dg.DagsterInstance
) -> list[str]:
    """Take the rows out, then have Dagster forget the partitions; returns what is to be said.

    In this order, so that one that was ended between the two is finished by doing it again.

    Args:
        known: those that Dagster records, also if the table has none of their rows.

    Raises:
        StorageError: the table could not be written; it and Dagster's records are as they were.
    """
    notes = carry_out(settings, planned, by)
    key, days = _key(planned.table), sorted({*planned.rows, *known})
    partitions = [day.isoformat() for day in days]
    gone = forgotten(instance, key, partitions)
    instance.report_runless_asset_event(
        dg.AssetObservation(
            key,
            description=f"{len(days)} partitions were wiped by {by}.",
            metadata={"partitions": partitions, "rows_before": sum(planned.rows.values())},
        )
    )
    for partition in partitions:
        if partition not in gone:
            rows = {"dagster/partition_row_count": 0}
            instance.report_runless_asset_event(
                dg.AssetMaterialization(key, partition=partition, metadata=rows)
            )
    return notes


def _key(table: str) -> dg.AssetKey:
    return dg.AssetKey(table.split("."))
