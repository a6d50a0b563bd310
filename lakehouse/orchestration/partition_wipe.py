"""Partitions that Dagster is to forget: its own SQLite storage forgets whole assets only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorageTable,
)
from sqlalchemy import select

if TYPE_CHECKING:
    from dagster import AssetKey
    from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

AT_ONCE = 500  # of what SQLite takes in one statement


def wipe_partitions(storage: "SqlEventLogStorage", key: "AssetKey", partitions: Sequence[str]) -> None:
    """Take out of the index what is noted of some partitions of an asset: they are missing then.

    The runs' own logs stay.
    """
    name = key.to_string()
    with storage.index_connection() as connection:
        for start in range(0, len(partitions), AT_ONCE):
            some = partitions[start : start + AT_ONCE]
            events, checks = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c
            noted = (events.asset_key == name) & events.partition.in_(some)
            ids = select(events.id).where(noted)
            connection.execute(AssetEventTagsTable.delete().where(AssetEventTagsTable.c.event_id.in_(ids)))
            connection.execute(SqlEventLogStorageTable.delete().where(noted))
            connection.execute(
                AssetCheckExecutionsTable.delete().where(
                    (checks.asset_key == name) & checks.partition.in_(some)
                )
            )
    storage.wipe_asset_cached_status(key)
