"""Partitions that are in their table no more, and that Dagster is to show as missing."""

from collections.abc import Sequence

import dagster as dg


def forgotten(instance: dg.DagsterInstance, key: dg.AssetKey, partitions: Sequence[str]) -> set[str]:
    """Have Dagster forget partitions of an asset; returns those that it has forgotten.

    None, where a storage of Dagster's own cannot: these are to be shown with no rows.
    """
    try:
        if partitions:
            instance.wipe_asset_partitions(key, partitions)
    except NotImplementedError:
        return set()
    return {*partitions}
