"""What follows what: Silver its Bronze and Gold its Silver, for the partitions that changed, old ones too.

Bronze follows nothing here: files have their sensors, databases their schedules. A table that is partitioned
follows its partitioned parents alone: a reference table that is loaded every night would else rebuild all of
history every night.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

AUTOMATION = "automation"
Condition = dg.AutomationCondition


def with_automation(assets: Iterable[Any]) -> list[Any]:
    """The assets; those that are built from others follow them once the automation is turned on."""
    assets = list(assets)
    definitions = [asset for asset in assets if isinstance(asset, dg.AssetsDefinition)]
    specs = {spec.key: spec for asset in definitions for spec in asset.specs}
    by_partition = [
        check.key for asset in definitions for check in asset.check_specs if check.partitions_def is not None
    ]

    def follow(spec: dg.AssetSpec) -> dg.AssetSpec:
        if not any(dep.asset_key in specs for dep in spec.deps):
            return spec
        return spec.replace_attributes(automation_condition=follows(spec, specs, by_partition))

    return [
        asset.map_asset_specs(follow) if isinstance(asset, dg.AssetsDefinition) else asset for asset in assets
    ]


def automation_sensor() -> dg.AutomationConditionSensorDefinition:
    """Evaluates the conditions; it is off until someone turns it on.

    Several partitions become one backfill.
    """
    return dg.AutomationConditionSensorDefinition(
        AUTOMATION,
        target=dg.AssetSelection.all(),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=15,
        description="Builds Silver from new Bronze, and Gold from new Silver, partition by partition.",
    )


def follows(
    spec: dg.AssetSpec,
    specs: Mapping[dg.AssetKey, dg.AssetSpec],
    by_partition: Sequence[dg.AssetCheckKey],
) -> "dg.AutomationCondition[Any]":
    """When a table is to be built: a parent is newer, all it needs is there, and nothing is under way.

    Neither past a parent's failed blocking check. A month needs one of its days; a day that was refused is
    not in it, which `is_complete` says, and holds it up no more than one that never came.

    Args:
        specs: of all tables.
        by_partition: the checks that judge partitions, and not whole tables.
    """
    parents = [specs[dep.asset_key] for dep in spec.deps if dep.asset_key in specs]
    whole = [parent.key for parent in parents if parent.partitions_def is None]
    finer = [parent.key for parent in parents if parent.partitions_def not in (None, spec.partitions_def)]
    changed, missing = Condition.any_deps_updated(), Condition.any_deps_missing()
    failed = Condition.any_checks_match(Condition.check_failed(), blocking_only=True)
    if spec.partitions_def is not None and whole:
        changed = changed.ignore(dg.AssetSelection.assets(*whole))
    condition = (
        (Condition.newly_missing() | changed).since_last_handled()
        & ~Condition.any_deps_in_progress()
        & ~Condition.in_progress()
    )
    if finer:
        days = dg.AssetSelection.assets(*finer)
        any_there = Condition.any_deps_match(~Condition.missing()).allow(days)
        condition = condition & any_there & ~missing.ignore(days)
        failed = failed.ignore(dg.AssetSelection.checks(*by_partition))
    else:
        condition = condition & ~missing
    condition = condition & ~Condition.any_deps_match(failed).with_label("a blocking check failed")
    return condition.with_label("follows its parents")
