"""Reads in a step's events what went wrong with each of its tables."""

from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.events import DagsterEvent, DagsterEventType

from lakehouse.alerts.outcome import Key, Kind
from lakehouse.orchestration.alert_findings import Judged, finding_of, metadata_of, partition_of
from lakehouse.orchestration.alert_tables import StepTables, name_of
from lakehouse.quality.gates import GOOD_ROWS, ROW_COUNT


@dataclass(frozen=True)
class Watch:
    """Sees every event of one step."""

    tables: StepTables

    def see(self, event: Any) -> None:
        """Take in one event."""
        if isinstance(event, DagsterEvent):
            event = _inner(event)
        if isinstance(event, dg.AssetMaterialization):
            self._published(event)
        elif isinstance(event, dg.AssetCheckEvaluation | dg.AssetCheckResult) and event.asset_key:
            self._judged(event.asset_key, event)

    def ended(self) -> None:
        """The step did not fail: if it did before, that is mended."""
        for key in self.tables.keys:
            self.tables.table(key).mended.add(Key(name_of(key), Kind.STEP, self.tables.partitions))

    def failed(self, error: Exception) -> None:
        """Take in why the step failed, as far as its events did not say so."""
        if isinstance(error, dg.Failure) and error.metadata:  # a reason for each partition
            for partition, reason in error.metadata.items():
                for key in self.tables.keys:
                    self.tables.not_published(key, str(partition), str(reason.value))
            return
        said = error.description if isinstance(error, dg.Failure) else None
        for part in (said or f"{type(error).__name__}: {error}").split("\n\n"):
            if not self._told(part):
                self.tables.step_failed(part)

    def _told(self, said: str) -> bool:
        """Whether a partition's reason, or a dbt test's result, says this already."""
        if said.startswith("test."):
            return any(table.of(Kind.CHECK) for table in self.tables.outcomes.values())
        return any(_one_line(reason) in _one_line(said) for reason in self.tables.reasons)

    def _published(self, event: dg.AssetMaterialization) -> None:
        key, partition, said = event.asset_key, partition_of(event), metadata_of(event)
        table = self.tables.table(key)
        table.published.add(partition)
        table.mended.add(Key(table.table, Kind.NOT_PUBLISHED, partition))
        if key not in self.tables.contracts:  # else a gate says it, for each partition by itself
            self.tables.set_aside(key, partition, said.get("rows_quarantined", 0), "row")
        self.tables.set_aside(key, partition, said.get("values_quarantined", 0), "value")

    def _judged(self, key: dg.AssetKey, event: Judged) -> None:
        partition, said, name = partition_of(event), metadata_of(event), str(event.check_name)
        if "not_published" in said:
            self.tables.not_published(key, partition, str(said["not_published"]))
            if name == ROW_COUNT and said.get("rows"):
                self.tables.table(key).refused = True
        elif name == GOOD_ROWS and "rows_quarantined" in said:
            self.tables.set_aside(key, partition, int(said["rows_quarantined"]), "row")
        if event.passed:
            self.tables.table(key).mended.add(Key(name_of(key), name, partition))
            return
        spec = self.tables.checks.get(dg.AssetCheckKey(key, name))
        meaning = (spec.description if spec else None) or ""
        if finding := finding_of(event, name_of(key), meaning, self.tables.contracts.get(key)):
            self.tables.add(key, finding)


def _inner(event: DagsterEvent) -> Any:
    """What an event that is noted already is of."""
    if event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION:
        return event.asset_check_evaluation_data
    return event.step_materialization_data.materialization if event.is_step_materialization else None


def _one_line(said: str) -> str:
    return " ".join(said.split())
