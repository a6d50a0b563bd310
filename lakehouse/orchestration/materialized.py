"""What Dagster's history says of the partitions of an asset."""

from collections.abc import Collection, Mapping

import dagster as dg
from dagster._core.events import DagsterEventType

KIND = DagsterEventType.ASSET_MATERIALIZATION


def latest_materializations(
    instance: dg.DagsterInstance, key: dg.AssetKey, partitions: Collection[str] | None
) -> Mapping[str | None, dg.EventLogRecord]:
    """The latest materialization of each of the partitions, or (None) of the asset; none of what has none."""
    if partitions is None:
        records = instance.fetch_materializations(key, limit=1).records
    elif ids := [*instance.get_latest_storage_id_by_partition(key, KIND, set(partitions)).values()]:
        wanted = dg.AssetRecordsFilter(key, storage_ids=ids)
        records = instance.fetch_materializations(wanted, limit=len(ids)).records
    else:
        records = []
    return {record.partition_key: record for record in records}
