"""Dagster's partition keys and the dates they stand for."""

from collections.abc import Iterator, Sequence
from datetime import date

import dagster as dg


def partition_dates(context: dg.AssetExecutionContext) -> list[date]:
    """The first day of each partition of the run: one, or each of a range."""
    return [date.fromisoformat(key) for key in sorted(context.partition_keys)]


def chunks(partitions: Sequence[date], size: int) -> Iterator[Sequence[date]]:
    """Cut a range into the pieces that are committed together."""
    for start in range(0, len(partitions), size):
        yield partitions[start : start + size]
