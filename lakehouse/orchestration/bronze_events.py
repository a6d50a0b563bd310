"""What a load came to, as the events that Dagster shows."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import dagster as dg

from lakehouse.ingest.load import LoadReport
from lakehouse.orchestration.batch import Event
from lakehouse.orchestration.contract_checks import evaluations
from lakehouse.orchestration.reporting import materialization, provenance
from lakehouse.quality.contract import Contract

RECONCILIATION = "reconciliation"
FILE_VERSION = "file_version"  # of the files that a load read, as they were when it began


def load_events(
    context: dg.AssetExecutionContext, report: LoadReport, spec: dg.AssetSpec, contract: Contract | None
) -> Iterator[Event]:
    """A materialization, the reconciliation and the contract's checks, for each partition or the table."""
    result = report.result
    snapshot_id = str(result.snapshot_id) if result and result.snapshot_id else None
    loaded: list[tuple[date | None, int]] = []
    if result is not None:
        loaded = [*result.partitions.items()] or [(None, result.rows)]
    tags = provenance(context, spec, snapshot_id)
    for partition, rows in loaded:
        quarantined = report.quarantined.get(partition, 0)
        metadata: dict[str, Any] = {"load_id": report.load_id or "none", "rows_quarantined": quarantined}
        if version := report.file_versions.get(partition):
            metadata[FILE_VERSION] = version
        if discarded := report.discarded.get(partition, 0):
            metadata["values_quarantined"] = discarded
        # A merge's rows are the batch's; the table has others.
        count = rows if partition is not None or result is None else result.total_rows
        yield materialization(spec.key, partition, count, tags, metadata)
        extracted = report.extracted.get(partition, 0)
        yield _reconciliation(
            spec.key,
            partition,
            extracted,
            rows,
            quarantined=quarantined,
            counted=report.counted.get(partition),
        )
    for partition, reason in report.failures.items():
        yield _reconciliation(
            spec.key, partition, report.extracted.get(partition), None, reason, context.run_id
        )
    if contract is not None:
        reasons = report.failures.items()
        yield from evaluations(spec.key, contract, report.checks, context.run_id, reasons)


def _reconciliation(
    key: dg.AssetKey,
    partition: date | None,
    extracted: int | None,
    loaded: int | None,
    reason: str | None = None,
    run_id: str | None = None,
    quarantined: int = 0,
    counted: int | None = None,
) -> dg.AssetCheckEvaluation:
    """In = out + quarantined.

    A partition that failed before publishing says so: Dagster would show its last good load.
    """
    metadata: dict[str, Any] = {
        "rows_by_the_source": counted,
        "rows_extracted": extracted,
        "rows_loaded": loaded,
        "rows_quarantined": quarantined,
    }
    if reason:
        metadata |= {"not_published": reason, "run": run_id}
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=RECONCILIATION,
        passed=loaded is not None and extracted == loaded + quarantined,
        partition=partition.isoformat() if partition else None,
        metadata={name: value for name, value in metadata.items() if value is not None},
        severity=dg.AssetCheckSeverity.ERROR,
        blocking=True,
    )
