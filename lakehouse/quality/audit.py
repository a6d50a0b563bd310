"""The audit before publishing: staged rows are judged by the contract, partition by partition.

It is used by the dlt destination and the dbt materialization alike. Rows that break a row-level rule
are set aside first; what is left is judged, and a partition that fails is kept where a person can
look at it, and is not published.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse.clock import Grain
from lakehouse.quality import drift, gates
from lakehouse.quality.check_result import CheckResult, Results
from lakehouse.quality.contract import Contract
from lakehouse.quality.distribution.audit import DistributionAudit
from lakehouse.quality.distribution.profile_table import ProfileTable
from lakehouse.quality.failing_rows import rows_of_published, rows_of_refused
from lakehouse.quality.judged_time import judged_at
from lakehouse.quality.judging import ChecksJudge, found_by
from lakehouse.quality.published import published_rows
from lakehouse.quality.quarantine import Quarantine, Quarantined
from lakehouse.quality.refused import keep_refused
from lakehouse.quality.shown_rows import MANY_ROWS, ShownRows, relation_of
from lakehouse.storage.errors import StorageError
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.tables import load_table
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema

    from lakehouse.settings import Settings
    from lakehouse.storage.staging import RowSource, StagedFile

CONTRACT_VERSION = "lakehouse.contract-version"
SHOWN_PARTITIONS = 3


@dataclass
class ContractAudit:
    """Judges one write of a table.

    Args:
        connection: a private one, in which the table's name becomes a view of the judged rows.
        partition_by: the column whose values are the partitions.
        grain: `day` or `month`, for when a partition ends.
        expected: the partitions of the write, also those without rows; [None] for a whole table.
        quarantined: takes the rows that break a rule.
        adds: whether the table keeps other rows than the write's: then no rows may be right, and files
            that are written again hold rows from before.
        may_be_empty: whether no rows are right, whatever the contract says.
        replays: whether the rows were in quarantine: then many may be bad still, and none is fresh.
        known_columns: columns that the contract need not declare.
        given: the columns of the query that gives the rows; None: those of the files, to which a write
            adds what else the table has.
        arrivals: how the source's columns came, by partition, where they differ.
        settings: say the time, and where refused rows are kept.
        results: filled by the audit.
    """

    contract: Contract
    connection: "DuckDBPyConnection"
    catalog: "Catalog"
    settings: "Settings"
    run_id: str
    partition_by: str | None
    grain: Grain
    expected: Sequence[date | None]
    quarantined: Quarantined
    adds: bool = False
    may_be_empty: bool = False
    replays: bool = False
    known_columns: frozenset[str] = frozenset()
    given: "Schema | None" = None
    arrivals: Mapping[date | None, Sequence[drift.Arrival]] = field(default_factory=dict)
    results: Results = field(default_factory=dict)
    _held: "Schema | None" = None  # the table's columns before the write

    def begin(self, expected: Sequence[date | None]) -> None:
        """Go on with another write of the same table; what was found of the one before is gone."""
        self.expected = expected
        self.results.clear()
        self._checks.sieve.begin()

    def sift(self, files: Sequence["StagedFile"]) -> Mapping[str, str]:
        """Set aside the rows that break a rule; returns, by file, what they meet."""
        kept_under = {file.path: self._kept_under(file.partition) for file in files}
        return self._checks.sieve.sift(files, kept_under, lambda: self._fit(files))

    def sift_rows(self, source: "RowSource") -> "RowSource":
        """Set aside the bad rows of a batch that is merged; returns the good ones."""
        return self._checks.sieve.sift_rows(source)

    def _fit(self, files: Sequence["StagedFile"]) -> bool:
        return not self._columns(None, relation_of(files), MANY_ROWS).refuses

    def audit(
        self, files: Sequence["StagedFile"], refused: Collection[date | None] = ()
    ) -> Mapping[date | None, str]:
        """Judge what is about to be published; returns why not, for each partition that must not be.

        Args:
            refused: partitions that will not be published for another reason, with which none is compared.
        """
        verdicts: dict[date | None, str] = {}
        before = load_table(self.catalog, self.contract.table)
        self._held = before.schema() if before else None
        partitions = self._judged_by(files)
        together = self._hold_all(files) if len(partitions) > 1 else None
        self._compare(together or (relation_of(files) if files else None), partitions)
        for partition in partitions:
            mine = [file for file in files if partition is None or file.partition == partition]
            rows = sum(file.rows for file in mine)
            aside = self.quarantined.rows.get(self._kept_under(partition), 0)
            relation = relation_of(mine) if mine else None
            if together and mine:
                relation = (
                    f"{together} where {identifier(str(self.partition_by))} = date {literal(partition)}"
                )
            judged = self._judge(partition, rows, aside, relation, held=together is not None)
            bad = any(result.refuses for result in judged)
            found = rows_of_published(self.contract.table, self.partition_by, partition)
            if bad:
                found = rows_of_refused(self.contract.table, self.run_id, partition)
            self.results[partition] = found_by(found, judged)
            if refusing := [result for result in judged if result.refuses]:
                keep_refused(self.settings, self.contract.table, self.run_id, partition, mine)
                verdicts[partition] = "; ".join(result.sentence for result in refusing)
            elif partition is not None and partition not in refused:
                self._accept(partition, rows)
        if verdicts and self.expected == [None]:  # a whole table is published or it is not
            said = [f"{partition}: {why}" if partition else why for partition, why in verdicts.items()]
            return {None: " ".join(said[:SHOWN_PARTITIONS])}
        return verdicts

    def recheck(self, partitions: Sequence[date | None] | None) -> Results:
        """Judge what is published already: these partitions, or every one that there is.

        Raises:
            StorageError: there is no such table.
        """
        table = load_table(self.catalog, self.contract.table)
        if table is None:
            raise StorageError(f"{self.contract.table} does not exist yet: materialize it first.")
        there = published_rows(table, self.partition_by)
        self.expected = [*there] if partitions is None else sorted(partitions, key=str)
        compared = [there[day] for day in self.expected if day in there]
        self._compare(" union all by name ".join(compared) or None, self.expected)
        aside = Quarantine(self.catalog, self.contract.table, "", "", 1).count(self.connection)
        for partition in self.expected:
            relation = there.get(partition)
            rows = 0
            if relation is not None:
                [(rows,)] = self.connection.execute(f"select count(*) from ({relation})").fetchall()
            judged = self._judge(partition, rows, aside.get(partition, 0), relation)
            found = rows_of_published(self.contract.table, self.partition_by, partition)
            self.results[partition] = found_by(found, judged)
            if partition is not None and relation is not None:
                self._accept(partition, rows)
        judged_days = None if partitions is None else self.expected
        self.keep_profiles(judged_days, table.metadata.current_snapshot_id, again=True)
        return self.results

    def _hold_all(self, files: Sequence["StagedFile"]) -> str | None:
        """SQL of all rows, held in memory; None if they are too many, or their files' columns may differ."""
        if self.given is None or self.partition_by is None or sum(file.rows for file in files) > MANY_ROWS:
            return None
        return self._shown.hold(relation_of(files)) if files else None

    def keep_profiles(
        self, published: Sequence[date | None] | None, snapshot_id: int | None, *, again: bool = False
    ) -> None:
        """Keep the profiles of what was published, for later partitions to be compared with.

        Args:
            published: the partitions; None: those of the write are all that the table has.
            again: whether they may have been kept before.
        """
        if self._distribution is not None:
            days = None if published is None else [day for day in published if day is not None]
            self._distribution.keep(days, snapshot_id, again=again)

    def _compare(self, relation: str | None, partitions: Sequence[date | None]) -> None:
        """Profile what is to be judged."""
        if self._distribution is None:
            return
        # A table that is replaced keeps nothing that its new partitions could be compared with.
        published = {} if self.expected == [None] else self._published_rows
        days = [partition for partition in partitions if partition is not None]
        self._distribution.begin(relation, days, published)

    def _accept(self, partition: date, rows: int) -> None:
        """Judge what comes after it by this partition too."""
        self._published_rows[partition] = rows
        if self._distribution is not None:
            self._distribution.accept(partition)

    def _judged_by(self, files: Sequence["StagedFile"]) -> Sequence[date | None]:
        """The partitions to judge one by one; those of the files where a whole table is replaced."""
        if self.expected != [None] or self.partition_by is None or self.adds or not files:
            return sorted(self.expected, key=str)  # each is judged by those before it
        return sorted({file.partition for file in files if file.partition is not None})

    @cached_property
    def _shown(self) -> ShownRows:
        return ShownRows(self.contract, self.connection)

    @cached_property
    def _checks(self) -> ChecksJudge:
        return ChecksJudge(
            self.contract, self.connection, self.catalog, self._shown, self.quarantined, self.replays
        )

    @cached_property
    def _declared(self) -> "Schema":
        return drift.declared_schema(self.contract, self.connection)

    @cached_property
    def _distribution(self) -> DistributionAudit | None:
        if self.contract.distribution is None:
            return None
        return DistributionAudit(
            self.contract.distribution,
            ProfileTable(self.catalog, self.contract.table, self.settings.keep_snapshots),
            self.connection,
            self.run_id,
            None if self.adds else self.partition_by,
            self.grain,
        )

    @cached_property
    def _published_rows(self) -> dict[date, int]:
        """Rows of each partition that the table has now."""
        if self.partition_by is None:
            return {}
        if self._limits.row_count_change_percent is None and self.contract.distribution is None:
            return {}
        return gates.rows_by_partition(load_table(self.catalog, self.contract.table))

    @cached_property
    def _limits(self) -> gates.Gates:
        limits = gates.limits_of(self.contract, self.settings, may_be_empty=self.adds or self.may_be_empty)
        return replace(limits, good_rows_percent=0) if self.replays else limits

    def _kept_under(self, partition: date | None) -> date | None:
        """What is set aside of a partition is kept under: itself, or None of a whole table."""
        return partition if partition in self.expected else None

    def _judge(
        self, partition: date | None, rows: int, aside: int, relation: str | None, *, held: bool = False
    ) -> "list[CheckResult]":
        limits = self._limits
        results = [gates.row_count(limits, partition, rows, self._published_rows)]
        results.append(gates.good_rows(limits, rows, aside))
        results.append(self._columns(partition, relation, rows, held=held))
        empty = not rows and results[0].good
        if self._distribution is not None:
            results += self._distribution.judge(partition, empty=empty)
        if empty:
            return results + self._checks.without_rows()
        now = judged_at(partition, self.grain, self.contract.timezone, self.settings)
        return results + self._checks.judge(now, self._kept_under(partition))

    def _columns(
        self, partition: date | None, relation: str | None, rows: int, *, held: bool = False
    ) -> CheckResult:
        """Let the table's name be these rows, and judge their columns."""
        shown = self._shown.show(relation, rows, held=held)
        found = to_iceberg_schema(describe(self.connection, shown)) if relation else None
        seen = None
        if found is not None:
            seen = drift.Rows(found, self.given, self.arrivals.get(partition, ()), self._held)
        return drift.columns(self.contract, self._declared, seen, self.known_columns)


def contract_version(contract: Contract | None) -> dict[str, str]:
    """What a snapshot's summary says of the contract that its rows passed."""
    return {CONTRACT_VERSION: contract.version} if contract else {}
