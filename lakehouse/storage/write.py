"""Writing a table: each call is one commit, seen whole or not at all.

They differ in which of the table's rows the commit takes out. All stage first and commit
last; done twice, each leaves the same table. Files that were prestaged hold the source's rows:
they spare the staging if they still fit the table. `sift` says which staged rows to leave out,
`audit` which of what is left must not be published.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Literal

from pyiceberg.expressions import AlwaysFalse, AlwaysTrue

from lakehouse.storage.commit import Committed, Write
from lakehouse.storage.errors import StorageError
from lakehouse.storage.loads import REPLACE
from lakehouse.storage.merge import MergeKey, Merger
from lakehouse.storage.schema import become, evolve
from lakehouse.storage.staged_write import Stager
from lakehouse.storage.staging import Audit, RowSource, Sift
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.time_window import TimeWindow, WindowStager

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


@dataclass(frozen=True)
class WriteResult:
    """What a write did.

    Args:
        table: `layer.table`.
        snapshot_id: the snapshot it made, or the current one where nothing had to change.
        metadata_location: the metadata file in which that snapshot is the current one; empty
            if there is no table.
        rows: rows written; for a merge, rows of the batch, those that an equal key outdid included.
        total_rows: rows of the table afterwards.
        partitions: rows of each published partition, 0 for an empty one.
        failures: partitions that were not published, each with the reason; the table still
            has what it had of them.
    """

    table: str
    snapshot_id: int | None
    metadata_location: str
    rows: int
    total_rows: int
    partitions: dict[date, int] = field(default_factory=dict)
    failures: dict[date, str] = field(default_factory=dict)


def replace(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    summary: Mapping[str, str] | None = None,
    audit: Audit | None = None,
    prestaged: Sequence[str] = (),
    sift: Sift | None = None,
) -> WriteResult:
    """Replace every row of a table, and its columns, by the source's.

    Raises:
        StorageError, duckdb.Error: nothing was written.
    """
    stager = Stager(spec, source, None, audit, prestaged, sift)
    return _result(spec, Write(catalog, spec, stager, become, AlwaysTrue(), summary or {}, REPLACE).run())


def append(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    load_id: str,
    summary: Mapping[str, str] | None = None,
    audit: Audit | None = None,
    prestaged: Sequence[str] = (),
    precondition: Callable[["Table | None"], None] | None = None,
    sift: Sift | None = None,
) -> WriteResult:
    """Add the source's rows; a load id that the table already holds adds nothing.

    Args:
        precondition: raises if the table, as the commit finds it, is not what the rows are to follow.

    Raises:
        StorageError, duckdb.Error: nothing was written.
    """
    stager = Stager(spec, source, None, audit, prestaged, sift)
    adds = Write(catalog, spec, stager, evolve, AlwaysFalse(), summary or {}, "append", load_id, precondition)
    return _result(spec, adds.run())


def overwrite_partitions(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    partitions: Sequence[date],
    summary: Mapping[str, str] | None = None,
    audit: Audit | None = None,
    prestaged: Sequence[str] = (),
    sift: Sift | None = None,
) -> WriteResult:
    """Replace exactly these partitions by the source's rows, in one commit.

    Where the whole cannot be computed, each partition is tried by itself: the good ones are
    published together, the others are named in the result's `failures`.

    Raises:
        StorageError: nothing was written, for a reason that is no single partition's.
    """
    if spec.partition_by is None:
        raise StorageError(f"{spec.name} has no partition column: give one, or replace the whole table.")
    stager = Stager(spec, source, sorted(set(partitions)), audit, prestaged, sift)
    strategy = "overwrite_partitions"
    return _result(spec, Write(catalog, spec, stager, evolve, AlwaysFalse(), summary or {}, strategy).run())


def overwrite_window(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    window: TimeWindow,
    summary: Mapping[str, str] | None = None,
    audit: Audit | None = None,
) -> WriteResult:
    """Replace the rows of a window of time by the source's, in one commit.

    Raises:
        PartitionMismatchError: the source gave rows outside the window.
        StorageError, duckdb.Error: nothing was written.
    """
    stager = WindowStager(spec, source, window, audit)
    strategy = "overwrite_window"
    return _result(spec, Write(catalog, spec, stager, evolve, AlwaysFalse(), summary or {}, strategy).run())


def merge(
    catalog: "Catalog",
    spec: TableSpec,
    source: RowSource,
    key: MergeKey,
    strategy: Literal["upsert", "insert_only"] = "upsert",
    summary: Mapping[str, str] | None = None,
    *,
    load_id: str | None = None,
    audit: Audit | None = None,
) -> WriteResult:
    """Insert rows by key, and (`upsert`) replace or delete those whose key exists.

    A load id that the table already holds changes nothing.

    Raises:
        MissingKeyError: rows lack a column of the key.
        StorageError, duckdb.Error: nothing was written.
    """
    # A new table's files state which keys they may hold: others are not looked into.
    spec = dataclasses.replace(spec, ranged=key.columns)
    merger = Merger(spec, source, key, strategy, audit)
    return _result(
        spec, Write(catalog, spec, merger, evolve, AlwaysFalse(), summary or {}, strategy, load_id).run()
    )


def _result(spec: TableSpec, committed: Committed) -> WriteResult:
    return WriteResult(
        table=spec.name,
        snapshot_id=committed.snapshot_id,
        metadata_location=committed.table.metadata_location if committed.table else "",
        rows=committed.staged.rows,
        total_rows=_total_rows(committed),
        partitions=committed.staged.rows_by_partition(),
        failures=committed.staged.failures,
    )


def _total_rows(committed: Committed) -> int:
    snapshot = committed.table.current_snapshot() if committed.table else None
    summary = snapshot.summary.additional_properties if snapshot and snapshot.summary else {}
    return int(summary.get("total-records", 0))
