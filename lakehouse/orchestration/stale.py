"""Which partitions a changed model has left behind: built by other SQL than it has now."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from lakehouse.orchestration.materialized import latest_materializations
from lakehouse.orchestration.ranges import unbroken

CODE_VERSION = "dagster/code_version"  # a tag of a materialization
STALE_HEADER = ("table", "built", "left behind", "of these set back", "partitions")


@dataclass(frozen=True)
class Stale:
    """What of a table is not known to be built by the code that the table has now.

    Args:
        built: partitions that are materialized; 1 for a table without partitions.
        left_behind: those built by other code, or by code that nobody noted, in order.
        unknown: how many of these nobody noted the code of: a rollback set them back.
        ranges: they as the UI's field for partitions takes them; empty for a table without partitions.
    """

    table: str
    built: int
    left_behind: int
    unknown: int
    ranges: str

    def cells(self) -> tuple[str, ...]:
        """The line of it that a person reads."""
        return (
            self.table,
            *(f"{count:,}" for count in (self.built, self.left_behind, self.unknown)),
            self.ranges,
        )


def stale(instance: dg.DagsterInstance, specs: Iterable[dg.AssetSpec]) -> Iterator[Stale]:
    """What changed models have left behind, by Dagster's records, of each table that has something."""
    for spec in specs:
        found = _of(instance, spec) if spec.code_version else None
        if found is not None and found.left_behind:
            yield found


def _of(instance: dg.DagsterInstance, spec: dg.AssetSpec) -> Stale | None:
    keys = _partition_keys(instance, spec)
    built = None if keys is None else instance.get_materialized_partitions(spec.key) & {*keys}
    records = latest_materializations(instance, spec.key, built)
    versions = {
        partition: (record.event_log_entry.tags or {}).get(CODE_VERSION)
        for partition, record in records.items()
    }
    behind = [partition for partition, version in versions.items() if version != spec.code_version]
    unknown = sum(versions[partition] is None for partition in behind)
    wanted = [partition for partition in behind if partition is not None]
    ranges = ", ".join(_range_text(*ends) for ends in unbroken(keys or [], wanted))
    return Stale(".".join(spec.key.path), len(records), len(behind), unknown, ranges)


def _partition_keys(instance: dg.DagsterInstance, spec: dg.AssetSpec) -> Sequence[str] | None:
    if spec.partitions_def is None:
        return None
    return spec.partitions_def.get_partition_keys(dynamic_partitions_store=instance)


def _range_text(first: str, last: str) -> str:
    """As the UI writes a range, and takes it."""
    return first if first == last else f"[{first}...{last}]"
