"""A load's commit: its rows reach the Bronze table by the source's strategy, or none does."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import duckdb

from lakehouse.ingest.landed import LandedRows
from lakehouse.ingest.load_audit import LoadAudit
from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.quality.audit import contract_version
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage import write
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.errors import StorageError
from lakehouse.storage.loads import LOAD_ID
from lakehouse.storage.tables import load_table
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from pyiceberg.table import Table

logger = logging.getLogger(__name__)


def commit(
    plan: LoadPlan,
    rows: LandedRows,
    files: Sequence[str],
    quarantine: Quarantine,
    precondition: Callable[["Table | None"], None] | None = None,
) -> WriteResult:
    """Write a load's rows, and its files if they fit, to the Bronze table by its strategy, as one commit."""
    audit = LoadAudit(plan, quarantine, rows.connection)
    written = _write(plan, rows, files, audit, precondition)
    audit.keep_profiles(written)
    return written


def _write(
    plan: LoadPlan,
    rows: LandedRows,
    files: Sequence[str],
    audit: LoadAudit,
    precondition: Callable[["Table | None"], None] | None,
) -> WriteResult:
    source = plan.source
    spec = source.spec(plan.keep_snapshots)
    summary = {RUN_ID: plan.run_id, LOAD_ID: rows.load_id, **contract_version(source.contract)}
    if source.partition_by is not None:
        partitions = [partition for partition in plan.extracted if partition is not None]
        return write.overwrite_partitions(
            plan.catalog, spec, rows, partitions, summary, audit.of_files, files, audit.sift
        )
    if source.key is not None:
        batch, load_id = audit.sift_rows(rows), rows.load_id
        return write.merge(
            plan.catalog,
            spec,
            batch,
            source.key,
            source.strategy,
            summary,
            load_id=load_id,
            audit=audit.of_merge,
        )
    if source.window is not None:
        batch = audit.sift_rows(rows)
        return write.overwrite_window(plan.catalog, spec, batch, source.window(), summary, audit.of_merge)
    if source.write_disposition == "append":
        return write.append(
            plan.catalog,
            spec,
            rows,
            rows.load_id,
            summary,
            audit.of_files,
            files,
            precondition,
            audit.sift,
        )
    _refuse_to_empty(plan)
    return write.replace(plan.catalog, spec, rows, summary, audit.of_files, files, audit.sift)


def settle(plan: LoadPlan, quarantine: Quarantine) -> None:
    """Let go of what earlier loads set aside of what is now replaced."""
    source, result = plan.source, plan.results[plan.source.table]
    connection = plan.connection.cursor()
    connection.execute("set TimeZone = 'UTC'")
    published = list(result.partitions) if source.partition_by is not None else None
    adds = source.partition_by is None and not source.replaces_all
    try:
        quarantine.settle(connection, published, list(result.failures), adds=adds)
    except (StorageError, duckdb.Error):  # the load is published: the next one settles it
        logger.warning(
            "%s: what earlier loads set aside is still there.", quarantine.spec.name, exc_info=True
        )


def _refuse_to_empty(plan: LoadPlan) -> None:
    """A source that fails to say anything looks like one that has nothing."""
    source = plan.source
    table = load_table(plan.catalog, source.name)
    if any(plan.landed.values()) or source.may_be_empty or table is None or not table.current_snapshot():
        return
    none = "no rows that fit" if plan.quarantined else "no rows"
    raise StorageError(
        f"{source.name}: {source.origin} gave {none}, which would empty the table. If that is right, "
        "declare the source with may_be_empty=True."
    )
