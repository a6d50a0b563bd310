"""How dbt's models and tests appear in the asset graph."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings

from lakehouse.clock import Grain
from lakehouse.orchestration.code_version import code_version
from lakehouse.orchestration.replay import WRITES

PartitionsByGrain = Mapping[Grain | None, dg.TimeWindowPartitionsDefinition | None]


class LakehouseDbtTranslator(DagsterDbtTranslator):
    """A model is the asset `<layer>/<model>`; a source has the key of the table that dlt loads.

    Args:
        partitions: the partitions of each grain a model may name in `partition_grain`.
        owners: who owns the models that name no owner of their own.
    """

    def __init__(self, partitions: PartitionsByGrain, owners: Sequence[str]) -> None:
        super().__init__(DagsterDbtTranslatorSettings(enable_asset_checks=True))
        self.partitions = partitions
        self.owners = list(owners)

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        """`<schema>/<name>` for sources and models alike."""
        return dg.AssetKey([dbt_resource_props["schema"], dbt_resource_props["name"]])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        """A group for each layer."""
        return str(dbt_resource_props["schema"])

    def get_description(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """The model's own words, without its SQL."""
        return str(dbt_resource_props.get("description") or "")

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> Sequence[str]:
        """The model's owners, or the project's."""
        return super().get_owners(dbt_resource_props) or self.owners

    def get_partitions_def(self, dbt_resource_props: Mapping[str, Any]) -> dg.PartitionsDefinition | None:
        """By the model's `partition_grain`.

        Raises:
            DagsterInvalidDefinitionError: the grain has no partitions.
        """
        grain = partition_grain(dbt_resource_props)
        if grain not in self.partitions:
            raise dg.DagsterInvalidDefinitionError(
                f"{dbt_resource_props['name']} has the partition_grain {grain!r}; known are "
                f"{', '.join(str(known) for known in self.partitions if known)}."
            )
        return self.partitions[grain]

    def get_asset_spec(self, manifest: Mapping[str, Any], unique_id: str, project: Any) -> dg.AssetSpec:
        """dagster-dbt's spec, with the layer and the real storage as kinds, and a version of all its code."""
        spec = super().get_asset_spec(manifest, unique_id, project)
        layer = spec.key.path[0]
        config = manifest["nodes"].get(unique_id, {}).get("config", {})  # a source is no node
        if unique_id in manifest["nodes"]:
            spec = spec.replace_attributes(code_version=code_version(manifest, unique_id))
        return spec.replace_attributes(kinds={"dbt", "iceberg", layer}).merge_attributes(
            metadata={
                "dagster/storage_kind": "iceberg",
                "dagster/table_name": ".".join(spec.key.path),
                WRITES: config.get("incremental_strategy") or "replace",
            }
        )

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: Any
    ) -> dg.AssetCheckSpec | None:
        """dagster-dbt's spec of a test, with the test's own sentence, which alerts and the UI say."""
        spec = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        said = manifest["nodes"][unique_id].get("description")
        return spec._replace(description=said) if spec and said else spec


def partition_grain(dbt_resource_props: Mapping[str, Any]) -> Grain | None:
    """`day`, `month`, or None for a model (or source) that is built as a whole.

    A table that rows are merged into may be partitioned too, but is not built by partition.
    """
    config = dbt_resource_props.get("config") or {}
    if not config.get("partition_by") or config.get("incremental_strategy") != "overwrite_partition":
        return None
    return cast("Grain", config.get("partition_grain") or "day")
