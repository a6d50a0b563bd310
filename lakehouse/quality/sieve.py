"""The rows of a write that break a rule of the contract are set aside before the others are judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_checks import ContractCheck
from lakehouse.quality.quarantine import Quarantined
from lakehouse.quality.rules import (
    GoodRows,
    Rule,
    condition_of,
    count_by_file,
    refuse_broken,
    rows_of,
    set_aside,
)
from lakehouse.quality.shown_rows import relation_of
from lakehouse.storage.scratch import scratch_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lakehouse.storage.staging import RowSource, StagedFile


@dataclass
class Sieve:
    """Sets aside the bad rows of one table's writes.

    Args:
        failing_rows: SQL of what a row meets that fails a check.
        quarantined: takes the rows.
    """

    contract: Contract
    connection: "DuckDBPyConnection"
    failing_rows: Callable[[ContractCheck], str | None]
    quarantined: Quarantined
    _done: set[date | None] = field(default_factory=set)

    def begin(self) -> None:
        """Go on with another write; what was found of the one before is gone."""
        self._done.clear()

    def sift(
        self, files: Sequence["StagedFile"], partitions: Mapping[str, date | None], fits: Callable[[], bool]
    ) -> Mapping[str, str]:
        """Set aside the rows of staged files that break a rule; returns, by file, what they meet.

        A write that is staged again meets the same rows again: a partition's are set aside once.

        Args:
            partitions: that the rows of each file are kept under in quarantine.
            fits: whether the columns are the contract's; if not, the audit says which it is.

        Raises:
            StorageError: a rule cannot be evaluated.
        """
        import duckdb

        if not self.rules or not files:
            return {}
        try:
            bad = count_by_file(self.connection, [file.path for file in files], self.rules)
        except duckdb.Error:
            if not fits():
                return {}
            refuse_broken(self.connection, self.contract.table, relation_of(files), self.rules)
            raise
        for partition in dict.fromkeys(partitions[path] for path in bad):
            paths = [path for path in bad if partitions[path] == partition]
            if partition not in self._done:
                set_aside(self.quarantined, partition, rows_of(paths), self.rules)
                self._done.add(partition)
        return dict.fromkeys(bad, condition_of(self.rules))

    def sift_rows(self, source: "RowSource") -> "RowSource":
        """Set aside the bad rows of a batch that is merged; returns the good ones.

        Raises:
            StorageError: a rule cannot be evaluated.
        """
        import duckdb

        if not self.rules:
            return source
        # A file, for the batch's query runs where it comes from alone, and quarantine is elsewhere.
        bad = f"select * from ({source.query(None)}) where {condition_of(self.rules)}"
        try:
            with scratch_file(source.connection, bad) as batch:
                set_aside(self.quarantined, None, batch, self.rules)
        except duckdb.Error:
            refuse_broken(source.connection, self.contract.table, source.query(None), self.rules)
            raise
        return GoodRows(source, condition_of(self.rules))

    def broke(self, check: ContractCheck, partition: date | None) -> int:
        """How many rows of a partition a rule has set aside."""
        if not check.quarantines or not self.quarantined.rows.get(partition):
            return 0
        [(count,)] = self.quarantined.connection.execute(
            "select count(*) from set_aside where partition is not distinct from ? and rule = ?",
            [partition, check.name],
        ).fetchall()
        return int(count)

    @cached_property
    def rules(self) -> list[Rule]:
        """The contract's rules of single rows."""
        rules = []
        for check in self.contract.quarantining:
            condition = self.failing_rows(check)
            assert condition is not None  # `contract_checks` lets no other check quarantine
            rules.append(Rule(check, condition))
        return rules
