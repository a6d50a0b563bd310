"""What went wrong in a step, by table: the findings as they come, each kept once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import dagster as dg

from lakehouse.alerts.outcome import Finding, Key, Kind, TableOutcome
from lakehouse.orchestration.alert_findings import reason_for
from lakehouse.orchestration.replay import REPLACING, WRITES
from lakehouse.quality.contract import Contract


@dataclass
class StepTables:
    """The tables of one step.

    Args:
        partitions: that the step is of, in words.
        reasons: why partitions were not published, as the step said it.
    """

    context: dg.AssetExecutionContext
    contracts: Mapping[dg.AssetKey, Contract]
    partitions: str
    outcomes: dict[dg.AssetKey, TableOutcome] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    _kept: set[Key] = field(default_factory=set, init=False)

    def add(self, key: dg.AssetKey, finding: Finding) -> None:
        """Keep a finding."""
        table = self.table(key)
        if finding.key not in self._kept:
            self._kept.add(finding.key)
            table.findings.append(finding)

    def not_published(self, key: dg.AssetKey, partition: str, reason: str) -> None:
        """A partition was not."""
        self.reasons.append(reason)
        said = reason_for(self.contracts.get(key), reason)
        self.add(key, Finding(Kind.NOT_PUBLISHED, name_of(key), partition, Kind.NOT_PUBLISHED, said=said))

    def set_aside(self, key: dg.AssetKey, partition: str, count: int, noun: str) -> None:
        """Rows, or values, of what is published are in quarantine."""
        subject = Kind.QUARANTINE if noun == "row" else f"{noun}s in {Kind.QUARANTINE}"
        said = f"{count:,} {noun}{'' if count == 1 else 's'}"
        if count:
            self.add(key, Finding(Kind.QUARANTINE, name_of(key), partition, subject, said=said, rows=count))
        else:
            self.table(key).mended.add(Key(name_of(key), subject, partition))

    def step_failed(self, said: str) -> None:
        """The step failed for a reason of no partition."""
        key = self._blamed(said)
        reason = reason_for(self.contracts.get(key), said)
        self.add(key, Finding(Kind.STEP, name_of(key), self.partitions, Kind.STEP, said=reason))

    def table(self, key: dg.AssetKey) -> TableOutcome:
        """What the step came to of a table."""
        if key not in self.outcomes:
            spec, contract = self._specs.get(key), self.contracts.get(key)
            owner = contract.owner if contract else ", ".join(spec.owners if spec else ())
            self.outcomes[key] = TableOutcome(
                name_of(key),
                owner or "nobody",
                contract.tier if contract else None,
                adds=spec is not None and spec.metadata.get(WRITES, REPLACING[0]) not in REPLACING,
            )
        return self.outcomes[key]

    @cached_property
    def keys(self) -> Sequence[dg.AssetKey]:
        """The assets of the step, also if it is of checks alone."""
        asked = self.context.selected_asset_keys or {
            check.asset_key for check in self.context.selected_asset_check_keys
        }
        return sorted(asked)

    @cached_property
    def checks(self) -> Mapping[dg.AssetCheckKey, dg.AssetCheckSpec]:
        """The checks of all assets that are made with these."""
        return {spec.key: spec for spec in self.context.assets_def.check_specs}

    @cached_property
    def _specs(self) -> Mapping[dg.AssetKey, dg.AssetSpec]:
        return {spec.key: spec for spec in self.context.assets_def.specs}

    def _blamed(self, said: str) -> dg.AssetKey:
        """The table that a reason begins with, as dbt names its model; else the step's first."""
        for key in self.keys:
            uid = self._specs[key].metadata.get("dagster_dbt/unique_id") if key in self._specs else None
            if uid and said.startswith(f"{uid}:"):
                return key
        return self.keys[0]


def name_of(key: dg.AssetKey) -> str:
    """An asset's table."""
    return ".".join(key.path)
