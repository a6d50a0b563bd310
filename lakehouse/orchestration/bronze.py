"""Bronze assets: one op a table, over dagster-dlt's spec of its resource."""

from collections.abc import Generator, Iterator, Sequence
from datetime import date
from typing import Any

import dagster as dg
from dagster_dlt import DagsterDltTranslator
from dagster_dlt.translator import DltResourceTranslatorData

from lakehouse.clock import Grain
from lakehouse.ingest.dlt_runtime import import_dlt
from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.load import LoadReport, load
from lakehouse.ingest.replay import replay
from lakehouse.ingest.source import LOAD_COLUMNS, BronzeSource
from lakehouse.orchestration.alerts import with_alerts
from lakehouse.orchestration.backfill import backfill_policy
from lakehouse.orchestration.batch import in_one_batch
from lakehouse.orchestration.bronze_events import RECONCILIATION, load_events
from lakehouse.orchestration.contract_checks import check_spec, contract_check_specs, evaluations
from lakehouse.orchestration.partitions import chunks, partition_dates
from lakehouse.orchestration.recheck import Published, recheck
from lakehouse.orchestration.replay import ADDING, WRITES, is_replay
from lakehouse.orchestration.reporting import column_schema, done, failure
from lakehouse.settings import Settings

LAYER = "bronze"
FILES = "lakehouse/files"  # metadata of an asset: the files that its source reads, which a sensor watches


class BronzeTranslator(DagsterDltTranslator):
    """Gives a dlt resource the key of the dbt source that reads it, and no upstream node."""

    def get_asset_spec(self, data: DltResourceTranslatorData) -> dg.AssetSpec:
        """The spec under `bronze/<table>`."""
        return (
            super()
            .get_asset_spec(data)
            .replace_attributes(
                key=dg.AssetKey([LAYER, data.resource.name]),
                deps=[],
                group_name=LAYER,
                kinds={"dlt", "iceberg", LAYER},
            )
        )


def bronze_asset(
    source: BronzeSource,
    *,
    owners: Sequence[str],
    partitions_def: dg.TimeWindowPartitionsDefinition | None = None,
    pool: str | None = None,
) -> dg.AssetsDefinition:
    """The asset of one Bronze table.

    Args:
        partitions_def: the partitions, for a source that has a partition column.
        pool: the pool that limits how many loads of this source run at once.

    Raises:
        ValueError: only one of partitions and partition column is given.
    """
    if (partitions_def is None) != (source.partition_by is None):
        raise ValueError(f"{source.name}: give both a partition column and partitions, or neither.")
    spec = _spec(source, owners, partitions_def)
    reconciliation = "Every row taken from the source is in the table, or in quarantine with its reason."
    checks = [check_spec(spec.key, RECONCILIATION, reconciliation, partitions_def)]
    if source.contract is not None:
        checks += contract_check_specs(source.contract, spec.key, partitions_def)

    @dg.multi_asset(
        name=f"{LAYER}__{source.table}",
        specs=[spec],
        check_specs=checks,
        can_subset=True,  # the checks alone can be executed
        pool=pool,
        backfill_policy=backfill_policy(partitions_def, Settings()),
    )
    def load_table(context: dg.AssetExecutionContext) -> Iterator[Any]:
        contracts = {spec.key: source.contract} if source.contract else {}
        if context.selected_asset_keys:
            yield from with_alerts(context, _load(context, source, spec, checks), contracts)
        elif source.contract is not None:
            judged = recheck(_published(source, spec), context, context.selected_asset_check_keys)
            yield from with_alerts(context, judged, contracts)

    return load_table


def _published(source: BronzeSource, spec: dg.AssetSpec) -> Published:
    assert source.contract is not None
    loaded = frozenset(column.name for column in LOAD_COLUMNS)
    grain: Grain | None = "day" if source.partition_by else None
    return Published(source.contract, spec, source.partition_by, grain, loaded)


def _spec(
    source: BronzeSource, owners: Sequence[str], partitions_def: dg.PartitionsDefinition | None
) -> dg.AssetSpec:
    columns = (*source.columns, *LOAD_COLUMNS)
    resource = import_dlt().resource([], name=source.table)
    translated = BronzeTranslator().get_asset_spec(
        DltResourceTranslatorData(resource=resource, pipeline=None)
    )
    return translated.replace_attributes(
        description=source.description,
        owners=list(owners),
        partitions_def=partitions_def,
        skippable=True,
    ).merge_attributes(
        metadata={
            "dagster/table_name": source.name,
            "dagster/storage_kind": "iceberg",
            "dagster/column_schema": column_schema(
                {column.name: column.type for column in columns},
                {column.name: column.description for column in columns},
            ),
            "source": source.origin,
            WRITES: source.writes,
        }
        | ({FILES: source.files} if source.files else {})
    )


def _load(
    context: dg.AssetExecutionContext,
    source: BronzeSource,
    spec: dg.AssetSpec,
    checks: Sequence[dg.AssetCheckSpec],
) -> Generator[Any, None, None]:
    """Load chunk by chunk and report each partition as soon as it is committed."""
    settings = Settings()
    parts: list[Sequence[date] | None] = [None]
    if spec.partitions_def is not None:
        parts = list(chunks(partition_dates(context), settings.chunk_partitions))
    failures: dict[date, str] = {}
    published = 0
    for part in parts:
        try:
            report = _loaded(context, source, settings, part)
        except (LoadError, SourceError) as error:
            if isinstance(error, LoadError) and source.contract is not None:
                refused = [(partition, str(error)) for partition in error.checks]
                judged = evaluations(spec.key, source.contract, error.checks, context.run_id, refused)
                yield from in_one_batch(context, judged)
            raise dg.Failure(description=str(error), allow_retries=False) from error
        failures |= report.failures
        published += len(part or [None]) - len(report.failures)
        yield from in_one_batch(context, load_events(context, report, spec, source.contract))
    if failures:
        raise failure(source.name, failures, published)
    yield done(spec.key)
    # Each partition was evaluated above; this only ends the checks' outputs.
    for check in checks:
        if check.key in context.selected_asset_check_keys:
            yield dg.Output(None, output_name=check.get_python_identifier())


def _loaded(
    context: dg.AssetExecutionContext,
    source: BronzeSource,
    settings: Settings,
    part: Sequence[date] | None,
) -> LoadReport:
    """Load from the source; in a replay of what adds to its table, from quarantine."""
    if source.writes in ADDING and is_replay(context.run.tags, source.name):
        return replay(source, settings, run_id=context.run_id)
    return load(source, settings, part, run_id=context.run_id)
