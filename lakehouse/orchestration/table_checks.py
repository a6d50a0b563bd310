"""The checks of tables as a whole, as asset checks that can run alone.

They look at what is published, and a failure warns: what is published is as good as it was.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import dagster as dg

from lakehouse.clock import Grain
from lakehouse.orchestration.contract_checks import metadata_of
from lakehouse.quality.check_result import CheckResult
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.judged_time import now_by
from lakehouse.quality.table_checks import Calendar, judge_table, table_checks
from lakehouse.settings import Settings

NAME = "table_checks"


@dataclass(frozen=True)
class Table:
    """An asset with its contract."""

    spec: dg.AssetSpec
    contract: Contract

    @property
    def partitions_def(self) -> dg.TimeWindowPartitionsDefinition | None:
        """The table's partitions, None of one that has none."""
        there = self.spec.partitions_def
        return there if isinstance(there, dg.TimeWindowPartitionsDefinition) else None

    def checks(self) -> list[dg.AssetCheckSpec]:
        """The specs of what is judged of the table as a whole."""
        named = table_checks(self.contract, partitioned=self.partitions_def is not None)
        return [
            dg.AssetCheckSpec(name, asset=self.spec.key, description=said) for name, said in named.items()
        ]

    def calendar(self, now: datetime) -> Calendar | None:
        """The partitions that have ended by now."""
        if self.partitions_def is None:
            return None
        monthly = isinstance(self.partitions_def, dg.MonthlyPartitionsDefinition)
        grain: Grain = "month" if monthly else "day"
        keys = self.partitions_def.get_partition_keys(current_time=now)
        return Calendar(grain, [date.fromisoformat(key) for key in keys])


def table_check_assets(assets: Iterable[object], contracts_dir: Path) -> list[dg.AssetChecksDefinition]:
    """The checks of all assets that have a contract, in one step.

    Raises:
        ContractError: a contract is not one.
    """
    tables = list(_tables(assets, contracts_dir))
    specs = [check for table in tables for check in table.checks()]
    if not specs:
        return []

    @dg.multi_asset_check(name=NAME, specs=specs, can_subset=True)
    def judge(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        asked = context.selected_asset_check_keys
        for table in tables:
            wanted = {key.name for key in asked if key.asset_key == table.spec.key}
            for result in _judged(table).values() if wanted else ():
                if result.check in wanted:
                    yield _as_dagster_shows_it(table.spec.key, result)

    return [judge]


def _tables(assets: Iterable[object], contracts_dir: Path) -> Iterator[Table]:
    for asset in assets:
        for spec in asset.specs if isinstance(asset, dg.AssetsDefinition) else ():
            file = contracts_dir.joinpath(*spec.key.path).with_suffix(".yml")
            if file.exists():
                yield Table(spec, read_contract(file, ".".join(spec.key.path)))


def _judged(table: Table) -> Mapping[str, CheckResult]:
    from lakehouse.catalog import open_catalog
    from lakehouse.storage.errors import StorageError
    from lakehouse.storage.tables import load_table

    settings = Settings()
    now = now_by(settings, table.contract.timezone)
    try:
        stored = load_table(open_catalog(settings), table.contract.table)
    except StorageError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
    return judge_table(table.contract, stored, table.calendar(now), now)


def _as_dagster_shows_it(key: dg.AssetKey, result: CheckResult) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=result.check,
        passed=result.good,
        metadata=metadata_of(result),
        severity=dg.AssetCheckSeverity.WARN,
    )
