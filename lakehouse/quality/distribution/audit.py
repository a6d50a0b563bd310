"""The distribution part of an audit: what is about to be published against what is.

Profiles are of staged rows, so that they are compared before anything is published. They are kept once
their partitions are published, and only then are later writes compared with them.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.clock import Grain
from lakehouse.quality.check_result import NOT_EVALUATED, PASSED, CheckResult
from lakehouse.quality.distribution.declared import Distribution
from lakehouse.quality.distribution.judge import baseline_days, judge_distribution, unjudged
from lakehouse.quality.distribution.profile import PartitionProfile
from lakehouse.quality.distribution.profile_table import ProfileTable, span_of
from lakehouse.quality.distribution.profiling import profile
from lakehouse.storage.errors import StorageError, reason

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

logger = logging.getLogger(__name__)


@dataclass
class DistributionAudit:
    """Profiles one write of a table and judges each of its partitions.

    Args:
        connection: reads the staged rows, and tables.
        partition_by: the column whose values are the partitions; None: the write has none.
    """

    declared: Distribution
    profiles: ProfileTable
    connection: "DuckDBPyConnection"
    run_id: str
    partition_by: str | None
    grain: Grain
    _now: dict[date, PartitionProfile] = field(default_factory=dict)
    _before: dict[date, PartitionProfile] = field(default_factory=dict)
    _fault: str = ""

    def begin(self, relation: str | None, partitions: Sequence[date], published: Mapping[date, int]) -> None:
        """Profile the rows that a query gives, and get what their partitions are compared with.

        Args:
            relation: the query; None: there are no rows.
            partitions: what is to be judged.
            published: rows of each partition that the table has. A profile of another number of rows
                is of rows that are there no more, and says nothing.
        """
        import duckdb

        self._now, self._before, self._fault = {}, {}, self._unfit()
        if self._fault or not partitions:
            return
        try:
            if relation is not None:
                self._now = profile(self.connection, relation, self.partition_by or "", self.declared.columns)
            days = {*published, *partitions}
            wanted = {day for one in partitions for day in baseline_days(days, one, self.declared)}
            if kept := wanted & published.keys():
                found = self.profiles.read(self.connection, span_of(sorted(kept)))
                self._before = {day: one for day, one in found.items() if published.get(day) == one.rows}
        except (duckdb.Error, StorageError) as error:
            self._fault = f"the rows cannot be compared: {reason(error)}"

    def judge(self, partition: date | None, *, empty: bool) -> list[CheckResult]:
        """The checks of a partition.

        Args:
            empty: whether it has no rows, rightly.
        """
        if empty:
            return unjudged(self.declared, PASSED, "no rows, which the contract allows")
        now = self._now.get(partition) if partition else None
        if self._fault or now is None:
            return unjudged(self.declared, NOT_EVALUATED, self._fault or "there are no rows")
        return judge_distribution(self.declared, now, self._before)

    def accept(self, partition: date) -> None:
        """Compare the partitions that come after with this one as it is about to be published."""
        self._before.pop(partition, None)
        if partition in self._now:
            self._before[partition] = self._now[partition]

    def keep(self, published: Sequence[date] | None, snapshot_id: int | None, *, again: bool = False) -> None:
        """Keep the profiles of what was published; what they took the place of goes.

        Without them the rows are as good as they are, so that a failure is no more than logged.

        Args:
            published: the partitions; None: all that the table has, which are those of the write.
            again: whether they may have been kept before, and are the same.
        """
        import duckdb

        if self._unfit() or published == []:
            return
        days = sorted(self._now if published is None else published)
        profiles = {day: self._now[day] for day in days if day in self._now}
        try:
            if again and self._same(profiles, published):
                return
            self.profiles.replace(
                self.connection, [*profiles.values()], span_of(published), self.run_id, snapshot_id
            )
        except (duckdb.Error, StorageError):
            logger.warning(
                "The profiles of %s were not kept: later partitions are compared without them until"
                " `lakehouse profile %s` has run.",
                *(self.profiles.table, self.profiles.table),
                exc_info=True,
            )

    def _same(self, profiles: Mapping[date, PartitionProfile], published: Sequence[date] | None) -> bool:
        return profiles == self.profiles.read(self.connection, span_of(published))

    def _unfit(self) -> str:
        if self.partition_by is None:
            return "the table is not written by partition, so that there are none before to compare with"
        if self.declared.season == "weekday" and self.grain != "day":
            return f"season: weekday is of partitions of a day, but these are of a {self.grain}"
        return ""
