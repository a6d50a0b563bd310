"""The dbt models as assets: one function for each partitioning, since one run cannot mix them."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dagster as dg

from lakehouse.orchestration.dbt_project import dbt_cli, models
from lakehouse.orchestration.dbt_translator import LakehouseDbtTranslator, PartitionsByGrain, partition_grain
from lakehouse.orchestration.partitions import partition_dates
from lakehouse.orchestration.reporting import (
    column_lineage,
    column_schema,
    done,
    failure,
    materialization,
    provenance,
)
from lakehouse.transform.invocation import Invocation
from lakehouse.transform.model_result import ModelResult, read_result
from lakehouse.transform.window import Window, next_partition

if TYPE_CHECKING:
    from dagster_dbt import DbtCliInvocation, DbtProject
    from dagster_dbt.core.dbt_cli_event import DbtCliEventMessage

DBT_POOL = "dbt"

# A test that also reads models of another selection runs only if those exist already.
BUILD = ("build", "--exclude-resource-type", "unit_test", "--indirect-selection", "buildable")


def dbt_assets(
    project: "DbtProject", partitions: PartitionsByGrain, owners: Sequence[str]
) -> list[dg.AssetsDefinition]:
    """All models of the project.

    Args:
        partitions: the partitions of each `partition_grain`; None stands for whole tables.
    """
    from dagster_dbt.dbt_manifest import validate_manifest

    manifest = validate_manifest(project.manifest_path)
    translator = LakehouseDbtTranslator(partitions, owners)
    groups = [_Models(project, manifest, translator, grain) for grain in partitions]
    return [group.asset() for group in groups if group.unique_ids]


@dataclass
class _Models:
    """The models of one partitioning."""

    project: "DbtProject"
    manifest: Mapping[str, Any]
    translator: LakehouseDbtTranslator
    grain: str | None
    specs: dict[str, dg.AssetSpec] = field(init=False)

    def __post_init__(self) -> None:
        self.specs = {
            unique_id: self.translator.get_asset_spec(self.manifest, unique_id, self.project)
            for unique_id, node in models(self.manifest).items()
            if partition_grain(node) == self.grain
        }

    @property
    def unique_ids(self) -> list[str]:
        return list(self.specs)

    def asset(self) -> dg.AssetsDefinition:
        """The multi-asset that builds any subset of the models in one dbt invocation."""
        name = "dbt_models" if self.grain is None else f"dbt_models_by_{self.grain}"
        partitioned = self.translator.partitions[self.grain] is not None

        @dg.multi_asset(
            name=name,
            specs=list(self.specs.values()),
            check_specs=self._checks(),
            can_subset=True,
            pool=DBT_POOL,
            backfill_policy=dg.BackfillPolicy.single_run() if partitioned else None,
        )
        def build(context: dg.AssetExecutionContext) -> Iterator[Any]:
            yield from self._build(context)

        return build

    def _checks(self) -> list[dg.AssetCheckSpec]:
        """The dbt tests of the models."""
        checks = {}
        for unique_id, spec in self.specs.items():
            for child in self.manifest["child_map"].get(unique_id, []):
                if not child.startswith("test"):
                    continue
                check = self.translator.get_asset_check_spec(spec, self.manifest, child, self.project)
                if check is not None:
                    checks[check.key] = check
        return list(checks.values())

    def _build(self, context: dg.AssetExecutionContext) -> Iterator[Any]:
        """Run dbt once for all selected models and report each as it finishes."""
        selected = {uid: spec for uid, spec in self.specs.items() if spec.key in context.selected_asset_keys}
        window = None
        if self.grain is not None:
            dates = partition_dates(context)
            window = Window(dates[0], next_partition(dates[-1], self.grain))  # type: ignore[arg-type]
        target = Path(self.project.project_dir) / "target" / f"run-{context.run_id[:8]}-{uuid4().hex[:8]}"
        Invocation(context.run_id, window).write(target)
        dbt = dbt_cli(self.project).cli(
            [*BUILD, "--select", " ".join(".".join(self.manifest["nodes"][uid]["fqn"]) for uid in selected)],
            manifest=self.manifest,
            dagster_dbt_translator=self.translator,
            target_path=target,
            raise_on_error=False,
        )
        failures: list[str] = []
        for event in dbt.stream_raw_events():
            unique_id = event.raw_event["data"].get("node_info", {}).get("unique_id", "")
            if not event.is_result_event:
                continue
            if unique_id in selected:
                yield from self._report_model(context, selected[unique_id], unique_id, target, failures)
            elif unique_id.startswith("test"):
                yield from self._report_test(context, event, target)
        self._raise_failures(dbt, failures)
        shutil.rmtree(target, ignore_errors=True)  # kept only to look into a failure

    def _report_model(
        self,
        context: dg.AssetExecutionContext,
        spec: dg.AssetSpec,
        unique_id: str,
        target: Path,
        failures: list[str],
    ) -> Iterator[Any]:
        result = read_result(target, unique_id)
        if result is None:
            return  # dbt's own error says why
        metadata = self._metadata(result, spec)
        partitions: dict[date | None, int] = {
            date.fromisoformat(key): n for key, n in result.partitions.items()
        }
        if spec.partitions_def is None:
            partitions = {None: result.rows}
        tags = provenance(context, spec, result.snapshot_id)
        for partition, rows in partitions.items():
            context.log_event(materialization(spec.key, partition, rows, tags, metadata))
        if result.failures:
            reasons = {date.fromisoformat(key): reason for key, reason in result.failures.items()}
            failures.append(str(failure(result.table, reasons, len(result.partitions)).description))
        else:
            yield done(spec.key)

    def _metadata(self, result: ModelResult, spec: dg.AssetSpec) -> dict[str, Any]:
        node = self.manifest["nodes"][spec.metadata["dagster_dbt/unique_id"]]
        described = {name: column.get("description", "") for name, column in node.get("columns", {}).items()}
        return {
            "dagster/column_schema": column_schema(result.columns, described),
            "dagster/column_lineage": column_lineage(result.lineage),
        }

    def _report_test(
        self, context: dg.AssetExecutionContext, event: "DbtCliEventMessage", target: Path
    ) -> Iterator[Any]:
        """dagster-dbt's own result of a dbt test; tests judge whole tables, so it has no partition."""
        yield from event.to_default_asset_events(
            self.manifest, self.translator, context, target, self.project
        )

    def _raise_failures(self, dbt: "DbtCliInvocation", failures: list[str]) -> None:
        """Fail the step if anything failed, with dbt's own words about each node."""
        error = dbt.get_error()
        if error is None and not failures:
            return
        reasons = failures or _node_errors(dbt) or [str(error)]
        raise dg.Failure(description="\n\n".join(reasons), allow_retries=False) from None


def _node_errors(dbt: "DbtCliInvocation") -> list[str]:
    """What dbt says of each model and test that failed; nothing if it did not get to run any."""
    try:
        results = dbt.get_artifact("run_results.json")["results"]
    except FileNotFoundError:
        return []
    return [
        f"{result['unique_id']}: {' '.join((result['message'] or result['status']).split())}"
        for result in results
        if result["status"] in ("error", "fail", "runtime error")
    ]
