"""What a load's rows must pass between staging and commit: reconciliation, and the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.ingest.source import LOAD_COLUMNS
from lakehouse.quality.audit import ContractAudit
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage.staging import RowSource, StagedFile
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass
class LoadAudit:
    """The audit of one load.

    What it sets aside is written to quarantine before anything is published, so that no row is lost
    if the process ends between the two.
    """

    plan: LoadPlan
    quarantine: Quarantine
    connection: "DuckDBPyConnection"

    def sift(self, files: Sequence[StagedFile]) -> Mapping[str, str]:
        """Which staged rows break a rule of the contract; they are set aside."""
        return self._contract.sift(files) if self._contract else {}

    def sift_rows(self, rows: RowSource) -> RowSource:
        """The rows of a batch that break no rule; the others are set aside."""
        return self._contract.sift_rows(rows) if self._contract else rows

    def of_files(self, files: Sequence[StagedFile]) -> Mapping[date | None, str]:
        """Judge files that hold the load's rows, and no others."""
        self.quarantine.write(self.plan.quarantined, self.plan.loaded_at)
        lost = reconcile(self.plan.extracted, files, self.plan.quarantined.rows)
        return self._judged(files, lost) | lost

    def of_merge(self, files: Sequence[StagedFile]) -> dict[date | None, str]:
        """Judge files that hold the load's rows and what else the files held that they replace."""
        self.quarantine.write(self.plan.quarantined, self.plan.loaded_at)
        return self._judged(files, {})

    def keep_profiles(self, written: WriteResult) -> None:
        """Keep the profiles of what was published."""
        if self._contract is not None:
            published = list(written.partitions) if self.plan.source.partition_by else None
            self._contract.keep_profiles(published, written.snapshot_id)

    def _judged(
        self, files: Sequence[StagedFile], refused: Mapping[date | None, str]
    ) -> dict[date | None, str]:
        return dict(self._contract.audit(files, refused)) if self._contract else {}

    @cached_property
    def _contract(self) -> ContractAudit | None:
        plan, source = self.plan, self.plan.source
        if source.contract is None:
            return None
        adds = source.partition_by is None and not source.replaces_all
        return ContractAudit(
            contract=source.contract,
            connection=self.connection,
            catalog=plan.catalog,
            settings=plan.settings,
            run_id=plan.run_id,
            partition_by=source.partition_by,
            grain="day",
            expected=list(plan.extracted) if source.partition_by else [None],
            quarantined=plan.quarantined,
            adds=adds,
            may_be_empty=source.may_be_empty,
            replays=plan.replays,
            known_columns=frozenset(column.name for column in LOAD_COLUMNS),
            arrivals=plan.arrivals,
            results=plan.checks,
        )


def reconcile(
    extracted: Mapping[date | None, int],
    files: Sequence[StagedFile],
    quarantined: Mapping[date | None, int] | None = None,
) -> dict[date | None, str]:
    """Refuse what lost or gained rows between the source and the staged files: in = out + quarantined."""
    aside = quarantined or {}
    staged = dict.fromkeys(extracted, 0)
    for file in files:
        partition = file.partition if file.partition in staged else None
        staged[partition] = staged.get(partition, 0) + file.rows
    return {
        partition: f"{rows} rows came from the source, but {staged[partition]} were staged"
        + (f" and {aside[partition]} set aside" if aside.get(partition) else "")
        for partition, rows in extracted.items()
        if staged[partition] + aside.get(partition, 0) != rows
    }
