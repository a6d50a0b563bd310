"""What a contract's checks say of the rows that its table's name stands for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse.quality.check_result import FAILED, NOT_EVALUATED, PASSED, CheckResult
from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_checks import ContractCheck
from lakehouse.quality.failing_rows import sample
from lakehouse.quality.quarantine import Quarantined
from lakehouse.quality.shown_rows import ShownRows
from lakehouse.quality.sieve import Sieve
from lakehouse.quality.soda import Judgement, SodaContract
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog


@dataclass
class ChecksJudge:
    """Asks Soda, and adds what Soda does not say: the failing rows, and those that were set aside.

    Args:
        replays: whether the rows were in quarantine: then none is fresh.
    """

    contract: Contract
    connection: "DuckDBPyConnection"
    catalog: "Catalog"
    shown: ShownRows
    quarantined: Quarantined
    replays: bool

    def judge(self, now: datetime, kept_under: date | None) -> list[CheckResult]:
        """Each check of the contract.

        Args:
            now: the time that freshness is relative to.
            kept_under: the partition that what was set aside of the rows is kept under.
        """
        judged = self._soda.judge(now)
        return [self._result(check, judged[check.name], kept_under) for check in self.contract.checks]

    def without_rows(self) -> list[CheckResult]:
        """Each check, of a partition that is rightly empty."""
        note = "no rows, which the contract allows"
        return [CheckResult(check.name, PASSED, check.blocks, note=note) for check in self.contract.checks]

    @cached_property
    def sieve(self) -> Sieve:
        """What sets aside the rows that break a rule."""
        return Sieve(self.contract, self.connection, self._failing_rows, self.quarantined)

    @cached_property
    def _soda(self) -> SodaContract:
        """Parsed once; the tables that it refers to become views first."""
        for name in self.contract.refers_to:
            table = load_table(self.catalog, name)
            if table is not None:
                self.shown.pin(name, table)
        return SodaContract(self.contract, self.connection)

    def _failing_rows(self, check: ContractCheck) -> str | None:
        return self._soda.failing_rows(check)

    def _result(self, check: ContractCheck, judged: Judgement, kept_under: date | None) -> CheckResult:
        """Soda's judgement, with what the failing rows meet and the first of them."""
        if judged.outcome == NOT_EVALUATED and (absent := self._absent_tables(check)):
            return CheckResult(check.name, NOT_EVALUATED, check.blocks, note=f"{absent} was never built")
        broke = self.sieve.broke(check, kept_under)
        outcome = FAILED if broke and judged.outcome == PASSED else judged.outcome
        good = outcome == PASSED
        condition = None if good or broke else self._failing_rows(check)
        return CheckResult(
            check=check.name,
            outcome=outcome,
            blocks=check.blocks and not (self.replays and check.type == "freshness"),
            measured=float(broke) if broke else judged.measured,
            threshold=judged.threshold,
            metrics=dict(judged.metrics) | ({"rows_quarantined": float(broke)} if broke else {}),
            note=f"{broke} rows are in quarantine" if broke else "",
            failing_rows=condition or "",
            sample=sample(self.connection, self.contract, condition) if condition else [],
        )

    def _absent_tables(self, check: ContractCheck) -> str:
        return ", ".join(name for name in sorted(check.refers_to) if load_table(self.catalog, name) is None)


def found_by(rows: str, judged: Sequence[CheckResult]) -> list[CheckResult]:
    """The results with the SQL of their failing rows.

    Args:
        rows: SQL of the rows, up to the condition: they are where the audit's end puts them.
    """
    return [
        replace(result, failing_rows=f"{rows} ({result.failing_rows})") if result.failing_rows else result
        for result in judged
    ]
