"""Schedules that make up for what was missed: a tick asks for every partition that is due and not there."""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg

from lakehouse.orchestration.ranges import partitions_a_run, policies, range_tags, unbroken
from lakehouse.quality.judged_time import now_by
from lakehouse.settings import Settings

STOPPED = dg.DefaultScheduleStatus.STOPPED


def catch_up_schedule(
    name: str, assets: Iterable[object], cron: str, partitions_def: dg.TimeWindowPartitionsDefinition
) -> dg.ScheduleDefinition:
    """Builds the partitions that have ended and that any table with this calendar lacks, the oldest first.

    A tick asks for `LAKEHOUSE_CATCH_UP_PARTITIONS` at most, the next ones for the rest. So after a time in
    which nothing ran, or from a first start, the first ticks make up for it. A partition that failed is asked
    for again at the next tick.
    """
    assets = list(assets)
    by_key = policies(assets)
    keys = [
        spec.key
        for asset in assets
        if isinstance(asset, dg.AssetsDefinition)
        for spec in asset.specs
        if spec.partitions_def == partitions_def
    ]

    @dg.schedule(
        name=name,
        cron_schedule=cron,
        target=dg.AssetSelection.assets(*keys),
        execution_timezone=partitions_def.timezone,
        default_status=STOPPED,
        description="Builds every partition that is due and not there, the oldest first.",
    )
    def due(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        settings = Settings()
        there = partitions_def.get_partition_keys(current_time=now_by(settings, partitions_def.timezone))
        lacking = _lacking(context.instance, keys, there)
        wanted = lacking[: settings.catch_up_partitions]
        if not wanted:
            yield dg.SkipReason(f"All of the {len(there)} partitions that are due are there.")
        at_most = partitions_a_run(by_key[keys[0]]) if keys else None
        tick = context.scheduled_execution_time.isoformat()
        for first_last in unbroken(there, wanted, at_most):
            yield dg.RunRequest(run_key=f"{tick} {first_last[0]}", tags=range_tags(first_last))
        if len(lacking) > len(wanted):
            context.log.info(f"{len(lacking) - len(wanted)} more are left for the next tick.")

    return due


def _lacking(instance: dg.DagsterInstance, keys: Sequence[dg.AssetKey], there: Sequence[str]) -> list[str]:
    """The partitions that one of the tables lacks, in order."""
    built = [instance.get_materialized_partitions(key) for key in keys]
    return [partition for partition in there if not all(partition in done for done in built)]


def whole_schedule(name: str, assets: Iterable[object], cron: str, timezone: str) -> dg.ScheduleDefinition:
    """Loads every table that has no partitions, and builds what is built of them; none is behind after it."""
    keys = [
        spec.key
        for asset in assets
        if isinstance(asset, dg.AssetsDefinition)
        for spec in asset.specs
        if spec.partitions_def is None
    ]
    return dg.ScheduleDefinition(
        name=name,
        cron_schedule=cron,
        target=dg.AssetSelection.assets(*keys),
        execution_timezone=timezone,
        default_status=STOPPED,
        description="Loads every table that has no partitions, and builds what is built of them.",
    )
