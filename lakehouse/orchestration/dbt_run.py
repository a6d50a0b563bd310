"""One dbt invocation on behalf of a Dagster run, reported model by model and test by test."""

import shutil
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dagster as dg

from lakehouse.clock import next_partition
from lakehouse.orchestration.batch import Event, in_one_batch
from lakehouse.orchestration.contract_checks import contract_check_specs, evaluations
from lakehouse.orchestration.dbt_project import dbt_cli
from lakehouse.orchestration.partitions import partition_dates
from lakehouse.orchestration.recheck import recheck_models
from lakehouse.orchestration.reporting import (
    column_lineage,
    column_schema,
    done,
    failure,
    materialization,
    provenance,
)
from lakehouse.orchestration.upstream import never_built
from lakehouse.transform.invocation import Invocation
from lakehouse.transform.model_result import ModelResult, read_result
from lakehouse.transform.window import Window

if TYPE_CHECKING:
    from dagster_dbt import DbtCliInvocation
    from dagster_dbt.core.dbt_cli_event import DbtCliEventMessage

    from lakehouse.orchestration.dbt_assets import Models

# A test that also reads models of another selection runs only if those exist already.
BUILD = ("build", "--exclude-resource-type", "unit_test", "--indirect-selection", "buildable")


@dataclass(frozen=True)
class DbtRun:
    """What one Dagster step does with the models of one partitioning."""

    models: "Models"
    context: dg.AssetExecutionContext

    def run(self) -> Generator[Any, None, None]:
        """Build the selected models with their tests, or run the selected tests alone."""
        asked = self.context.selected_asset_keys
        selected = {uid: spec for uid, spec in self.models.specs.items() if spec.key in asked}
        if selected:
            yield from self._build(selected)
        else:
            checks = self.context.selected_asset_check_keys
            tests = [uid for uid, check in self.models.tests().items() if check.key in checks]
            yield from recheck_models(self.models, self.context, checks)
            if tests:
                invocation = Invocation(self.context.run_id, None)
                yield from self._invoke(["test", *self.models.select(tests)], {}, invocation)

    def _build(self, selected: Mapping[str, dg.AssetSpec]) -> Iterator[Any]:
        """Build the partitions whose inputs exist; the others fail by name."""
        specs, grain = list(selected.values()), self.models.grain
        dates = partition_dates(self.context) if grain is not None else []
        missing, lacking = never_built(self.context, specs, dates, grain)
        if missing:
            raise dg.Failure(
                description=f"Nothing was built: {', '.join(missing)} was never materialized. Do that first.",
                allow_retries=False,
            )
        tables = ", ".join(".".join(spec.key.path) for spec in specs)
        if lacking and len(lacking) == len(dates):
            raise failure(tables, lacking, 0)
        window = Window(dates[0], next_partition(dates[-1], grain)) if grain else None
        invocation = Invocation(self.context.run_id, window, frozenset(lacking))
        yield from self._invoke([*BUILD, *self.models.select(selected)], selected, invocation)
        if lacking:
            raise failure(tables, lacking, len(dates) - len(lacking))

    def _invoke(
        self,
        arguments: list[str],
        selected: Mapping[str, dg.AssetSpec],
        invocation: Invocation,
    ) -> Iterator[Any]:
        """Run dbt once and report each model and test as it finishes."""
        folder = f"run-{self.context.run_id[:8]}-{uuid4().hex[:8]}"
        target = Path(self.models.project.project_dir) / "target" / folder
        invocation.write(target)
        dbt = dbt_cli(self.models.project).cli(
            arguments,
            manifest=self.models.manifest,
            dagster_dbt_translator=self.models.translator,
            target_path=target,
            raise_on_error=False,
        )
        failures: list[str] = []
        for event in dbt.stream_raw_events():
            unique_id = event.raw_event["data"].get("node_info", {}).get("unique_id", "")
            if not event.is_result_event:
                continue
            if unique_id in selected:
                yield from self._report_model(selected[unique_id], unique_id, target, failures)
            elif unique_id.startswith("test"):
                yield from self._report_test(event, target)
        self._raise_failures(dbt, failures)
        shutil.rmtree(target, ignore_errors=True)  # kept only to look into a failure

    def _report_model(
        self,
        spec: dg.AssetSpec,
        unique_id: str,
        target: Path,
        failures: list[str],
    ) -> Iterator[Any]:
        result = read_result(target, unique_id)
        if result is None:
            return  # dbt's own error says why
        metadata = self._metadata(result, spec)
        if aside := sum(result.quarantined.values()):
            metadata["rows_quarantined"] = aside
        partitions: dict[date | None, int] = {
            date.fromisoformat(key): n for key, n in result.partitions.items()
        }
        if spec.partitions_def is None:
            partitions = {None: result.rows} if result.snapshot_id else {}
        tags = provenance(self.context, spec, result.snapshot_id)
        events: list[Event] = [
            materialization(spec.key, partition, rows, tags, metadata)
            for partition, rows in partitions.items()
        ]
        reasons = {date.fromisoformat(key): reason for key, reason in result.failures.items()}
        contract, checks = self.models.contracts[unique_id], result.checks_by_partition()
        refused: list[tuple[date | None, str]] = [*reasons.items()]
        if None in checks and any(check.refuses for check in checks[None]):
            refused.append((None, "; ".join(check.sentence for check in checks[None] if check.refuses)))
        events += evaluations(spec.key, contract, checks, self.context.run_id, refused)
        yield from in_one_batch(self.context, events)
        if result.failures:
            failures.append(str(failure(result.table, reasons, len(result.partitions)).description))
        elif not refused:
            yield done(spec.key)
            for check in contract_check_specs(contract, spec.key, spec.partitions_def):
                if check.key in self.context.selected_asset_check_keys:
                    yield dg.Output(None, output_name=check.get_python_identifier())

    def _metadata(self, result: ModelResult, spec: dg.AssetSpec) -> dict[str, Any]:
        node = self.models.manifest["nodes"][spec.metadata["dagster_dbt/unique_id"]]
        described = {name: column.get("description", "") for name, column in node.get("columns", {}).items()}
        return {
            "dagster/column_schema": column_schema(result.columns, described),
            "dagster/column_lineage": column_lineage(result.lineage),
        }

    def _report_test(self, event: "DbtCliEventMessage", target: Path) -> Iterator[Any]:
        """dagster-dbt's own result of a dbt test; tests judge whole tables, so it has no partition."""
        yield from event.to_default_asset_events(
            self.models.manifest, self.models.translator, self.context, target, self.models.project
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
