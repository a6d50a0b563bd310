"""One write from staging to its commit, redone on the new base when another writer was first."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    TableAlreadyExistsError,
)
from pyiceberg.expressions import BooleanExpression, In
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from lakehouse.storage.errors import (
    CommitConflictError,
    CommitUnknownError,
    StorageError,
    disk_advice,
    disk_reason,
    reason,
)
from lakehouse.storage.landed_commit import landed_in
from lakehouse.storage.loads import LOAD_ID, ONCE, STRATEGY, holding
from lakehouse.storage.merge import Merger
from lakehouse.storage.partitioning import files_of
from lakehouse.storage.producer import add_snapshot, drop_old_snapshots
from lakehouse.storage.staged_write import StagedWrite, Stager
from lakehouse.storage.staging import discard, to_data_files
from lakehouse.storage.tables import TableSpec, begin
from lakehouse.storage.time_window import WindowStager
from lakehouse.storage.types import describe, to_iceberg_schema

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table, Transaction

    from lakehouse.storage.replacing import Replacer
    from lakehouse.storage.rewriting import Rewriter

logger = logging.getLogger(__name__)

# An attempt stages anew only if the schema changed meanwhile, or what it merges with: many are cheap.
COMMIT_ATTEMPTS = 100
LOST_RACES = (CommitFailedException, TableAlreadyExistsError)

# What a snapshot's summary says of the write that made it.
RUN_ID = "lakehouse.run-id"
PARTITIONS = "lakehouse.partitions"
ROWS = "lakehouse.rows"


@dataclass(frozen=True)
class Committed:
    """A write's end: what was published, and the table as of then (None: there is no table)."""

    staged: StagedWrite
    table: "Table | None"
    snapshot_id: int | None


@dataclass
class Write:
    """One write through its attempts.

    Args:
        evolve: how the table's schema follows the rows.
        removes: the rows the write takes out, if it is not by partition.
        summary: what the snapshot says of the write.
        strategy: what the snapshot says it is.
        once: a load id that the table must not hold already.
        precondition: raises if what the table is now forbids the write.
    """

    catalog: "Catalog"
    spec: TableSpec
    stager: "Stager | Merger | WindowStager | Rewriter | Replacer"
    evolve: Callable[..., "Schema"]
    removes: BooleanExpression
    summary: Mapping[str, str]
    strategy: str
    once: str | None = None
    precondition: Callable[["Table | None"], None] | None = None
    staged: StagedWrite | None = None
    staged_for: tuple[str, "Schema", int | None] | None = field(default=None)
    snapshot_id: int | None = None

    def run(self) -> Committed:
        """Stage and commit.

        Raises:
            CommitConflictError: other writers kept winning.
            CommitUnknownError: the catalog's answer was lost; the write is in the table, or it is not.
            StorageError, duckdb.Error: nothing was written.
        """
        retrying = Retrying(
            retry=retry_if_exception_type(LOST_RACES),
            stop=stop_after_attempt(COMMIT_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.1, max=5),
            before_sleep=self._log_lost_race,
            reraise=True,
        )
        try:
            return retrying(self._attempt)
        except LOST_RACES as error:
            self._discard()
            raise CommitConflictError(
                f"{self.spec.name}: other writers changed the table in each of {COMMIT_ATTEMPTS} "
                f"attempts. Run it again when they are done. ({error})"
            ) from error
        except OSError as error:
            self._discard()
            raise StorageError(
                f"{self.spec.name} could not be written and is as it was. {disk_reason(error)}"
            ) from error
        except Exception as error:
            self._discard()
            if disk_advice(str(error)):  # DuckDB's own class of error says no more than that
                raise StorageError(
                    f"{self.spec.name} could not be written and is as it was. {reason(error)}"
                ) from error
            raise
        except BaseException:  # an interruption may come right after the commit
            if not self._may_have_landed():
                self._discard()
            raise

    def _attempt(self) -> Committed:
        self.snapshot_id = None
        source = self.stager.source
        incoming = to_iceberg_schema(describe(source.connection, source.query(self.stager.partitions)))
        table, transaction = begin(self.catalog, self.spec, incoming)
        if table is not None and self.once and (held := holding(table.metadata, self.once)) is not None:
            self._discard()
            loaded = StagedWrite([], None, {}, merged=int(held.get(ROWS, 0)))
            return Committed(loaded, table, table.metadata.current_snapshot_id)
        if self.precondition is not None:
            self.precondition(table)
        schema = self.evolve(transaction, incoming, self.spec)
        location = transaction.table_metadata.location
        base = table.metadata.current_snapshot_id if table and self.stager.follows_base else None
        if self.staged is None or self.staged_for != (location, schema, base):
            self._discard()
            self.staged = self.stager.stage(schema, location, incoming.column_names, table)
            self.staged_for = (location, schema, base)
        return self._commit(self.staged, table, transaction)

    def _commit(self, staged: StagedWrite, table: "Table | None", transaction: "Transaction") -> Committed:
        current = table.metadata.current_snapshot_id if table else None
        if staged.partitions == []:
            return Committed(staged, table, current)
        removed = staged.removed
        if removed is None:
            removed = files_of(table, self._removes(staged), self.spec)
        added = to_data_files(transaction._table.io, transaction.table_metadata, staged.files)
        if added or removed or self.once or _changes_columns(table, transaction):
            self.snapshot_id = add_snapshot(transaction, added, removed, self._summary(staged))
            drop_old_snapshots(transaction, self.spec.keep_snapshots)
        try:
            return Committed(staged, transaction.commit_transaction(), self.snapshot_id or current)
        except (*LOST_RACES, StorageError):
            raise  # it did not land
        except Exception as error:
            return self._look_for(staged, error)

    def _removes(self, staged: StagedWrite) -> BooleanExpression:
        if staged.partitions is None:
            return self.removes
        return In(term=str(self.spec.partition_by), literals=set(staged.partitions))

    def _summary(self, staged: StagedWrite) -> dict[str, str]:
        by_partition = {PARTITIONS: ",".join(map(str, staged.partitions))} if staged.partitions else {}
        once = {LOAD_ID: self.once, ONCE: "true"} if self.once else {}
        return {**self.summary, STRATEGY: self.strategy, ROWS: str(staged.rows), **by_partition, **once}

    def _look_for(self, staged: StagedWrite, error: Exception) -> Committed:
        """Whether a commit that ended in an error is in the table all the same.

        Raises:
            CommitFailedException: it is not, or not yet; the files stay, for it may still arrive.
            CommitUnknownError: the table cannot be looked at.
        """
        try:
            table = landed_in(self.catalog, self.spec.name, self.snapshot_id, staged.files)
        except Exception as silence:
            self.staged = None
            raise CommitUnknownError(
                f"{self.spec.name}: the catalog's answer to the commit was lost ({error}), and it cannot be "
                f"asked now ({silence}). When it answers, `lakehouse history {self.spec.name}` says whether "
                "the write is there; run it again if it is not."
            ) from error
        if table is not None:
            logger.warning("%s: committed, though the answer was lost: %s", self.spec.name, error)
            return Committed(staged, table, self.snapshot_id)
        if isinstance(error, CommitStateUnknownException):
            self.staged = None
            raise CommitFailedException(f"the answer was lost and the table is unchanged: {error}") from error
        raise error

    def _may_have_landed(self) -> bool:
        if self.snapshot_id is None or self.staged is None:
            return False
        try:
            found = landed_in(self.catalog, self.spec.name, self.snapshot_id, self.staged.files)
        except Exception:
            logger.exception("%s: the staged files stay, since the catalog cannot be asked.", self.spec.name)
            return True
        return found is not None

    def _discard(self) -> None:
        if self.staged is not None:
            discard(self.staged.files)
            self.staged = None

    def _log_lost_race(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        logger.warning(
            "%s: another writer committed first, trying again (attempt %s of %s): %s",
            self.spec.name,
            state.attempt_number,
            COMMIT_ATTEMPTS,
            error,
        )


def _changes_columns(table: "Table | None", transaction: "Transaction") -> bool:
    """Whether the table's columns change: a snapshot is read with the columns of its time."""
    snapshot = table.current_snapshot() if table else None
    return snapshot is not None and snapshot.schema_id != transaction.table_metadata.current_schema_id
