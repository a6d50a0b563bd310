"""The alert of a step: the events that it yields for Dagster pass here, and none is changed."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

import dagster as dg

from lakehouse.alerts.alert import alert
from lakehouse.alerts.outcome import StepOutcome
from lakehouse.orchestration.alert_tables import StepTables
from lakehouse.orchestration.alert_watch import Watch
from lakehouse.quality.contract import Contract
from lakehouse.settings import Settings


def with_alerts(
    context: dg.AssetExecutionContext,
    events: Generator[Any, None, None],
    contracts: Mapping[dg.AssetKey, Contract],
) -> Iterator[Any]:
    """The step's own events; when they end, however they do, what went wrong is told once.

    Args:
        contracts: of the step's tables.
    """
    tables = StepTables(context, contracts, _partitions(context))
    watch = Watch(tables)
    with closing(events):
        try:
            for event in events:
                watch.see(event)
                yield event
            watch.ended()
        except Exception as error:
            watch.failed(error)
            raise
        finally:
            alert(Settings(), StepOutcome(context.run_id, [*tables.outcomes.values()]), context.log)


def _partitions(context: dg.AssetExecutionContext) -> str:
    if not (context.has_partition_key or context.has_partition_key_range):
        return ""
    asked = context.partition_key_range
    return asked.start if asked.start == asked.end else f"{asked.start} to {asked.end}"
