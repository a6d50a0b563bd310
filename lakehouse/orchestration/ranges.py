"""Partitions as the unbroken ranges that runs are of: what lies between two ranges is in none of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

Range = tuple[str, str]


def unbroken(keys: Sequence[str], wanted: Iterable[str], at_most: int | None = None) -> Iterator[Range]:
    """The first and last of each unbroken range of partitions.

    Args:
        keys: all partitions, in order.
        wanted: some of them.
        at_most: how many partitions a range may have; None: any number.

    Raises:
        KeyError: one of those wanted is no partition.
    """
    places = {key: place for place, key in enumerate(keys)}
    first = last = None
    for place in sorted(places[key] for key in set(wanted)):
        if first is not None and last is not None:
            if place == last + 1 and (at_most is None or place - first < at_most):
                last = place
                continue
            yield keys[first], keys[last]
        first = last = place
    if first is not None and last is not None:
        yield keys[first], keys[last]


def range_tags(first_last: Range) -> dict[str, str]:
    """The tags by which a run is of a range; one partition is a range too."""
    return {
        ASSET_PARTITION_RANGE_START_TAG: first_last[0],
        ASSET_PARTITION_RANGE_END_TAG: first_last[1],
    }


def partitions_a_run(policy: dg.BackfillPolicy | None) -> int | None:
    """How many partitions a run may have; None: any number."""
    return 1 if policy is None else policy.max_partitions_per_run


def policies(assets: Iterable[object]) -> Mapping[dg.AssetKey, dg.BackfillPolicy | None]:
    """The backfill policy of each asset."""
    return {
        spec.key: asset.backfill_policy
        for asset in assets
        if isinstance(asset, dg.AssetsDefinition)
        for spec in asset.specs
    }
