"""A contract's checks run alone: they judge what is published already."""

from collections.abc import Generator, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from lakehouse.clock import Grain
from lakehouse.orchestration.batch import in_one_batch
from lakehouse.orchestration.contract_checks import contract_check_specs, evaluations
from lakehouse.orchestration.partitions import partition_dates
from lakehouse.quality.check_result import Results
from lakehouse.quality.contract import Contract
from lakehouse.settings import Settings
from lakehouse.storage.errors import StorageError
from lakehouse.transform.model_audit import judge_published

if TYPE_CHECKING:
    from lakehouse.orchestration.dbt_assets import Models


def recheck_models(
    models: "Models", context: dg.AssetExecutionContext, asked: AbstractSet[dg.AssetCheckKey]
) -> Iterator[Any]:
    """Evaluate those of the models' contract checks that were asked for.

    Raises:
        Failure: a table is not there.
    """
    for uid, spec in models.specs.items():
        partition_by = models.manifest["nodes"][uid]["config"]["partition_by"] if models.grain else None
        published = Published(models.contracts[uid], spec, partition_by, models.grain)
        yield from recheck(published, context, asked)


@dataclass(frozen=True)
class Published:
    """A table whose checks can be evaluated without building it.

    Args:
        known_columns: columns that the contract need not declare.
    """

    contract: Contract
    spec: dg.AssetSpec
    partition_by: str | None
    grain: Grain | None
    known_columns: frozenset[str] = frozenset()


def recheck(
    table: Published, context: dg.AssetExecutionContext, asked: AbstractSet[dg.AssetCheckKey]
) -> Generator[Any, None, None]:
    """Evaluate those of the table's contract checks that were asked for.

    Raises:
        Failure: the table is not there.
    """
    specs = contract_check_specs(table.contract, table.spec.key, table.spec.partitions_def)
    checks = {check.name: check for check in specs if check.key in asked}
    if not checks:
        return
    judged = evaluations(table.spec.key, table.contract, _judged(table, context), context.run_id, ())
    yield from in_one_batch(context, (one for one in judged if one.check_name in checks))
    for check in checks.values():
        yield dg.Output(None, output_name=check.get_python_identifier())


def _judged(table: Published, context: dg.AssetExecutionContext) -> Results:
    # A run of checks alone has no partitions, unless whoever started it gave it some.
    named = context.has_partition_key or context.has_partition_key_range
    try:
        return judge_published(
            table.contract,
            Settings(),
            context.run_id,
            table.partition_by,
            table.grain,
            partition_dates(context) if named else None,
            table.known_columns,
        )
    except StorageError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
