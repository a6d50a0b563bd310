"""A contract's checks run alone: they judge what is published already."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import dagster as dg

from lakehouse.orchestration.batch import in_one_batch
from lakehouse.orchestration.contract_checks import contract_check_specs, evaluations
from lakehouse.orchestration.partitions import partition_dates
from lakehouse.quality.check_result import Results
from lakehouse.settings import Settings
from lakehouse.storage.errors import StorageError
from lakehouse.transform.model_audit import judge_published

if TYPE_CHECKING:
    from lakehouse.orchestration.dbt_assets import Models


def recheck(
    models: "Models", context: dg.AssetExecutionContext, asked: AbstractSet[dg.AssetCheckKey]
) -> Iterator[Any]:
    """Evaluate those of the models' contract checks that were asked for.

    Raises:
        Failure: a table is not there.
    """
    for uid, spec in models.specs.items():
        contract = models.contracts[uid]
        specs = contract_check_specs(contract, spec.key, spec.partitions_def)
        checks = {check.name: check for check in specs if check.key in asked}
        if not checks:
            continue
        results = _judged(models, uid, context)
        judged = evaluations(spec.key, contract, results, context.run_id, ())
        yield from in_one_batch(context, (one for one in judged if one.check_name in checks))
        for check in checks.values():
            yield dg.Output(None, output_name=check.get_python_identifier())


def _judged(models: "Models", uid: str, context: dg.AssetExecutionContext) -> Results:
    # A run of checks alone has no partitions, unless whoever started it gave it some.
    named = context.has_partition_key or context.has_partition_key_range
    partitions = partition_dates(context) if named else None
    partition_by = models.manifest["nodes"][uid]["config"]["partition_by"] if models.grain else None
    try:
        return judge_published(
            models.contracts[uid], Settings(), context.run_id, partition_by, models.grain, partitions
        )
    except StorageError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
