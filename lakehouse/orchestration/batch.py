"""Events of many partitions, noted together: one by one they took longer than what they tell of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import uuid4

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData as Target,
)
from dagster._core.events import DagsterEvent, DagsterEventBatchMetadata, DagsterEventType
from dagster_shared.record import copy

from lakehouse.orchestration.materialized import latest_materializations

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


def in_one_batch(
    context: dg.AssetExecutionContext, events: Iterable[Event]
) -> Iterator[Event | DagsterEvent]:
    """What a step yields to note these events: the materializations, and then what their checks came to.

    A failed check that is to end the step comes last and as it is, for Dagster itself must see it. A storage
    that knows no batches notes the others one by one.
    """
    told = list(events)
    yield from _noted(context, [event for event in told if isinstance(event, dg.AssetMaterialization)])
    judged = _aimed(context.instance, [event for event in told if isinstance(event, dg.AssetCheckEvaluation)])
    yield from _noted(context, [one for one in judged if not _ends_step(one)])
    yield from filter(_ends_step, judged)


def _ends_step(judged: dg.AssetCheckEvaluation) -> bool:
    return not judged.passed and bool(judged.blocking) and judged.severity == dg.AssetCheckSeverity.ERROR


def _noted(context: dg.AssetExecutionContext, events: Sequence[Event]) -> list[DagsterEvent]:
    """Events that are noted as they are made; all are made before Dagster goes on."""
    batch = str(uuid4())
    return [
        _note(context, event, DagsterEventBatchMetadata(batch, is_end=event is events[-1]))
        for event in events
    ]


def _note(context: dg.AssetExecutionContext, event: Event, batch: DagsterEventBatchMetadata) -> DagsterEvent:
    step = context.get_step_execution_context()
    if isinstance(event, dg.AssetMaterialization):
        return DagsterEvent.asset_materialization(step, event, batch)
    return DagsterEvent.from_step(
        DagsterEventType.ASSET_CHECK_EVALUATION,
        step,
        event,
        f"Asset check '{event.check_name}' on '{event.asset_key.to_user_string()}' {_came_to(event)}",
        batch,
    )


def _came_to(judged: dg.AssetCheckEvaluation) -> str:
    came_to = "passed." if judged.passed else "did not pass."
    return f"{came_to} {judged.description}" if judged.description else came_to


def _aimed(
    instance: dg.DagsterInstance, judged: Sequence[dg.AssetCheckEvaluation]
) -> list[dg.AssetCheckEvaluation]:
    """The evaluations, each of the latest materialization of its partition.

    Dagster shows no other as the partition's status, not even the failure of rows that were not published.
    """
    partitions: dict[dg.AssetKey, dict[str | None, None]] = {}
    for one in judged:
        partitions.setdefault(one.asset_key, {})[one.partition] = None
    latest = {key: _latest(instance, key, [*asked]) for key, asked in partitions.items()}
    return [copy(one, target_materialization_data=latest[one.asset_key].get(one.partition)) for one in judged]


def _latest(
    instance: dg.DagsterInstance, key: dg.AssetKey, partitions: Sequence[str | None]
) -> Mapping[str | None, Target]:
    """The latest materialization of each of the partitions, or of the asset."""
    named = None if partitions == [None] else [part for part in partitions if part is not None]
    return {
        partition: Target(storage_id=record.storage_id, run_id=record.run_id, timestamp=record.timestamp)
        for partition, record in latest_materializations(instance, key, named).items()
    }
