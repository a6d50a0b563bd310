"""Events of many partitions, noted together: one by one they took longer than what they tell of."""

from collections.abc import Iterable, Iterator
from uuid import uuid4

import dagster as dg
from dagster._core.events import DagsterEvent, DagsterEventBatchMetadata, DagsterEventType

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


def in_one_batch(
    context: dg.AssetExecutionContext, events: Iterable[Event]
) -> Iterator[Event | DagsterEvent]:
    """What a step yields to note these events.

    A failed check comes last and as it is, for Dagster itself must see it to end the step as failed. A
    storage that knows no batches notes the others one by one.
    """
    together: list[Event] = []
    failed: list[Event] = []
    for event in events:
        passed = not isinstance(event, dg.AssetCheckEvaluation) or event.passed
        (together if passed else failed).append(event)
    batch = str(uuid4())
    # Noted as they are made; all are made before Dagster goes on.
    noted = [
        _note(context, event, DagsterEventBatchMetadata(batch, is_end=event is together[-1]))
        for event in together
    ]
    yield from noted
    yield from failed


def _note(context: dg.AssetExecutionContext, event: Event, batch: DagsterEventBatchMetadata) -> DagsterEvent:
    step = context.get_step_execution_context()
    if isinstance(event, dg.AssetMaterialization):
        return DagsterEvent.asset_materialization(step, event, batch)
    return DagsterEvent.from_step(
        DagsterEventType.ASSET_CHECK_EVALUATION,
        step,
        event,
        f"Asset check '{event.check_name}' on '{event.asset_key.to_user_string()}' passed.",
        batch,
    )
