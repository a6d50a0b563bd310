"""The dbt models as assets: one function for each partitioning, since one run cannot mix them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from lakehouse.clock import Grain
from lakehouse.orchestration.alerts import with_alerts
from lakehouse.orchestration.backfill import backfill_policy
from lakehouse.orchestration.contract_checks import contract_check_specs
from lakehouse.orchestration.dbt_project import models
from lakehouse.orchestration.dbt_run import DbtRun
from lakehouse.orchestration.dbt_translator import LakehouseDbtTranslator, PartitionsByGrain, partition_grain
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.settings import Settings

if TYPE_CHECKING:
    from dagster_dbt import DbtProject

DBT_POOL = "dbt"


def dbt_assets(
    project: "DbtProject", partitions: PartitionsByGrain, owners: Sequence[str]
) -> list[dg.AssetsDefinition]:
    """All models of the project.

    Args:
        partitions: the partitions of each `partition_grain`; None stands for whole tables.

    Raises:
        ContractError: a model has no contract, or what it has is not one.
    """
    from dagster_dbt.dbt_manifest import validate_manifest

    manifest = validate_manifest(project.manifest_path)
    translator = LakehouseDbtTranslator(partitions, owners)
    groups = [Models(project, manifest, translator, grain, Settings().contracts_dir) for grain in partitions]
    return [group.asset() for group in groups if group.specs]


@dataclass
class Models:
    """The models of one partitioning."""

    project: "DbtProject"
    manifest: Mapping[str, Any]
    translator: LakehouseDbtTranslator
    grain: Grain | None
    contracts_dir: Path
    specs: dict[str, dg.AssetSpec] = field(init=False)
    contracts: dict[str, Contract] = field(init=False)

    def __post_init__(self) -> None:
        self.specs = {
            unique_id: self.translator.get_asset_spec(self.manifest, unique_id, self.project)
            for unique_id, node in models(self.manifest).items()
            if partition_grain(node) == self.grain
        }
        self.contracts = {
            unique_id: read_contract(self._contract_file(spec), ".".join(spec.key.path))
            for unique_id, spec in self.specs.items()
        }

    def _contract_file(self, spec: dg.AssetSpec) -> Path:
        return self.contracts_dir.joinpath(*spec.key.path).with_suffix(".yml")

    def asset(self) -> dg.AssetsDefinition:
        """The multi-asset that builds any subset of the models in one dbt invocation."""
        name = "dbt_models" if self.grain is None else f"dbt_models_by_{self.grain}"

        @dg.multi_asset(
            name=name,
            specs=list(self.specs.values()),
            check_specs=[*self.tests().values(), *self.contract_checks()],
            can_subset=True,
            pool=DBT_POOL,
            backfill_policy=backfill_policy(self.translator.partitions[self.grain], Settings()),
        )
        def build(context: dg.AssetExecutionContext) -> Iterator[Any]:
            contracts = {spec.key: self.contracts[uid] for uid, spec in self.specs.items()}
            yield from with_alerts(context, DbtRun(self, context).run(), contracts)

        return build

    def contract_checks(self) -> list[dg.AssetCheckSpec]:
        """The checks of the models' contracts."""
        return [
            check
            for uid, spec in self.specs.items()
            for check in contract_check_specs(self.contracts[uid], spec.key, spec.partitions_def)
        ]

    def tests(self) -> dict[str, dg.AssetCheckSpec]:
        """The dbt tests of the models, by unique id."""
        tests = {}
        for unique_id, spec in self.specs.items():
            for child in self.manifest["child_map"].get(unique_id, []):
                if not child.startswith("test"):
                    continue
                check = self.translator.get_asset_check_spec(spec, self.manifest, child, self.project)
                if check is not None:
                    tests[child] = check
        return tests

    def select(self, unique_ids: Iterable[str]) -> list[str]:
        """The arguments of dbt that name exactly these models or tests."""
        return ["--select", " ".join(".".join(self.manifest["nodes"][uid]["fqn"]) for uid in unique_ids)]
