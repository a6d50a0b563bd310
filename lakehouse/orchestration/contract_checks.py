"""A contract's checks as Dagster's asset checks, each evaluated for each partition."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import dagster as dg

from lakehouse.quality.check_result import NOT_EVALUATED, WARNED, CheckResult, Results
from lakehouse.quality.contract import Contract
from lakehouse.quality.gates import GATES

UNJUDGED = "there were no rows to judge"


def check_spec(
    key: dg.AssetKey,
    name: str,
    description: str,
    partitions_def: dg.PartitionsDefinition | None,
    *,
    blocking: bool = True,
) -> dg.AssetCheckSpec:
    """A check of an asset, by partition where the asset has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitioned checks are a preview
        return dg.AssetCheckSpec(
            name, asset=key, description=description, blocking=blocking, partitions_def=partitions_def
        )


def contract_check_specs(
    contract: Contract, key: dg.AssetKey, partitions_def: dg.PartitionsDefinition | None
) -> list[dg.AssetCheckSpec]:
    """The checks of a contract and those that every table has to pass."""
    gates = [check_spec(key, name, said, partitions_def) for name, said in GATES.items()]
    return [
        *gates,
        *(
            check_spec(key, check.name, check.description, partitions_def, blocking=check.blocks)
            for check in contract.checks
        ),
        *(
            check_spec(key, check.name, check.description, partitions_def, blocking=check.blocks)
            for check in contract.comparisons
        ),
    ]


def evaluations(
    key: dg.AssetKey,
    contract: Contract,
    results: Results,
    run_id: str,
    unpublished: Iterable[tuple[date | None, str]],
) -> Iterator[dg.AssetCheckEvaluation]:
    """What the checks came to; of a partition that no check has seen, that they could not be evaluated.

    Args:
        unpublished: partitions that were not published, each with the reason.
    """
    reasons = dict(unpublished)
    for partition, judged in results.items():
        for result in judged:
            yield evaluation(key, result, partition, run_id, reasons.get(partition))
    names = [*GATES, *contract.check_names]
    for partition, reason in reasons.items():
        for name in names if partition not in results else ():
            missing = CheckResult(name, NOT_EVALUATED, True, note=UNJUDGED)
            yield evaluation(key, missing, partition, run_id, reason)


def evaluation(
    key: dg.AssetKey, result: CheckResult, partition: date | None, run_id: str, unpublished: str | None
) -> dg.AssetCheckEvaluation:
    """One check on one partition.

    A partition that was not published says so: Dagster would show its last good load.
    """
    metadata = metadata_of(result)
    if result.failing_rows:
        metadata["failing_rows"] = dg.MetadataValue.md(f"```sql\n{result.failing_rows}\n```")
    if result.sample:
        metadata["sample"] = dg.MetadataValue.md(_as_table(result.sample))
    if result.differences:
        metadata["columns"] = dg.MetadataValue.md(_as_table(result.differences))
    if unpublished is not None:
        metadata |= {"not_published": unpublished, "run": run_id}
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=result.check,
        passed=result.good,
        description=result.note or None,
        partition=partition.isoformat() if partition else None,
        metadata=metadata,
        severity=dg.AssetCheckSeverity.ERROR
        if result.blocks and result.outcome != WARNED
        else dg.AssetCheckSeverity.WARN,
        blocking=result.blocks,
    )


def metadata_of(result: CheckResult) -> dict[str, Any]:
    """The numbers of a check, which the UI plots, and its words."""
    numbers = {"measured": result.measured, **result.metrics}
    metadata: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
    if result.threshold:
        metadata["threshold"] = result.threshold
    if result.outcome == NOT_EVALUATED:
        metadata["not_evaluated"] = result.note or "a check that cannot be evaluated counts as failed"
    elif result.note:
        metadata["note"] = result.note
    return metadata


def _as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table that Dagster's UI shows."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names)]
    lines += [[_in_a_cell(row.get(name)) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _in_a_cell(value: Any) -> str:
    return "null" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
