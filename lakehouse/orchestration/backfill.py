"""How a range of partitions is cut into runs.

One run for the range unless someone says otherwise: a run pays seconds of imports and dbt's start once, and
commits a chunk of partitions at a time, so that a long one that dies has lost no more than its last chunk.
"""

import dagster as dg

from lakehouse.settings import Settings


def backfill_policy(
    partitions_def: dg.PartitionsDefinition | None, settings: Settings
) -> dg.BackfillPolicy | None:
    """The policy of an asset, as `LAKEHOUSE_BACKFILL_PARTITIONS` has it; none of one without partitions."""
    if partitions_def is None:
        return None
    if not settings.backfill_partitions:
        return dg.BackfillPolicy.single_run()
    return dg.BackfillPolicy.multi_run(settings.backfill_partitions)
