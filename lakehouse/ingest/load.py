"""Loading a Bronze table: one dlt run for a chunk of partitions, or for the whole table.

Each run has a dlt working folder of its own, so that runs never share or block one another and
a failed load leaves nothing for the next to stumble over. dlt's schema and state live below
`data/dlt/state`, where the next run finds them.
"""

import logging
import shutil
import uuid
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse.catalog import open_catalog
from lakehouse.ingest.columns import Column
from lakehouse.ingest.descriptions import WRITTEN_FOR_USERS, about, describe
from lakehouse.ingest.dlt_runtime import import_dlt
from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.file_pattern import version_of
from lakehouse.ingest.incoming import columns_of
from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.check_result import Results
from lakehouse.quality.quarantine import Quarantined
from lakehouse.storage import duckdb_session
from lakehouse.storage.errors import StorageError
from lakehouse.storage.tables import load_table
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

    from lakehouse.settings import Settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadReport:
    """What one load did.

    Args:
        extracted: rows read from the source, by partition (None: a table without partitions).
        quarantined: those of them that were set aside whole, by partition.
        discarded: single values that were set aside of rows that were loaded, by partition.
        failures: partitions that were not loaded, each with the reason.
        result: the commit, None where there was nothing to commit.
        checks: what the contract's checks came to, by partition.
        counted: rows by the source's own count, by partition, where it has one.
        file_versions: of the files that were read, as they were before, by partition.
    """

    load_id: str | None
    extracted: dict[date | None, int]
    failures: dict[date, str]
    result: WriteResult | None
    quarantined: dict[date | None, int] = field(default_factory=dict)
    discarded: dict[date | None, int] = field(default_factory=dict)
    checks: Results = field(default_factory=dict)
    counted: dict[date | None, int] = field(default_factory=dict)
    file_versions: dict[date | None, str] = field(default_factory=dict)


def load(
    source: BronzeSource,
    settings: "Settings",
    partitions: Sequence[date] | None = None,
    run_id: str = "by-hand",
) -> LoadReport:
    """Load a table, or replace exactly these partitions of it, in one commit.

    A partition that cannot be read or written is reported in `failures`; the others are loaded.

    Raises:
        LoadError: nothing was loaded and the reason is no single partition's.
        SourceError: the source of a table without partitions could not be read.
    """
    from dlt.pipeline.exceptions import PipelineStepFailed

    if (source.partition_by is None) != (partitions is None):
        raise LoadError(f"{source.name} is loaded {'as a whole' if partitions else 'by partition'}.")
    folder = settings.dlt_dir / "runs" / f"{source.table}-{uuid.uuid4()}"
    failures: dict[date, str] = {}
    try:
        catalog = open_catalog(settings)
        folder.mkdir(parents=True)
        connection = duckdb_session.connect(settings)
    except (StorageError, OSError) as error:
        raise LoadError(about(source.name, describe(error))) from error
    version = source.contract.version if source.contract else ""
    aside = Quarantined(connection, version)
    plan = LoadPlan(source, catalog, connection, run_id, settings.keep_snapshots, aside, settings)
    try:
        _run_pipeline(plan, settings, partitions, folder, failures)
    except (PipelineStepFailed, OSError) as error:
        cause = _root_cause(error)
        if source.table in plan.results:  # what failed is dlt's own bookkeeping, after the commit
            logger.warning("%s was loaded, but dlt could not note it: %s", source.name, describe(cause))
        elif isinstance(cause, SourceError):
            raise cause from error
        else:
            raise LoadError(about(source.name, describe(cause)), plan.checks) from error
    finally:
        plan.connection.close()
        shutil.rmtree(folder, ignore_errors=True)
    result = plan.results.get(source.table)
    failures |= result.failures if result else {}
    return LoadReport(
        plan.load_id,
        plan.extracted,
        failures,
        result,
        aside.rows,
        aside.values,
        plan.checks,
        plan.counted,
        plan.file_versions,
    )


def _run_pipeline(
    plan: LoadPlan,
    settings: "Settings",
    partitions: Sequence[date] | None,
    folder: Path,
    failures: dict[date, str],
) -> None:
    """Extract, normalize and load with dlt."""
    from lakehouse.ingest.destination import destination

    dlt = import_dlt()
    source = plan.source
    pipeline = dlt.pipeline(
        pipeline_name=source.pipeline_name,
        pipelines_dir=str(folder / "pipelines"),
        destination=destination(str(settings.dlt_dir / "state"), plan),
        dataset_name="bronze",
    )
    resource = dlt.resource(
        _extract(plan, settings, partitions, folder, failures),
        name=source.table,
        table_format="iceberg",
        # What dlt calls merge is the destination's work; of dlt itself it asks no more than append.
        write_disposition="replace" if source.write_disposition == "replace" else "append",
        columns=[column.dlt_hint() for column in source.columns],
    )
    pipeline.run(resource, loader_file_format="parquet")


def _extract(
    plan: LoadPlan,
    settings: "Settings",
    partitions: Sequence[date] | None,
    folder: Path,
    failures: dict[date, str],
) -> Iterator[Any]:
    """Yield every partition's items; one that cannot be read is noted and left out."""
    from lakehouse.ingest.items import take_in

    load_id = plan.load_id = import_dlt().current.load_package_state()["load_id"]
    source = plan.source
    prestager = source.prestager(plan.catalog, plan.keep_snapshots)
    table = load_table(plan.catalog, source.name)
    had = columns_of(table.schema() if table else None)
    held = {} if source.replaces_all and source.mode == "evolve" else had
    told: set[tuple[Column, ...]] = set()
    described: dict[Hashable, dict[str, DuckDBPyType]] = {}
    parts: Sequence[date | None] = [None] if partitions is None else list(dict.fromkeys(partitions))
    for partition in parts:
        workspace = folder / "files" / str(partition)
        workspace.mkdir(parents=True)
        extraction = Extraction(
            partition,
            source,
            settings,
            plan.connection,
            workspace,
            prestager,
            load_id,
            plan.loaded_at,
            told,
            plan.quarantined,
            held,
            frozenset(had),
            described=described,
        )
        if source.pattern is not None:
            found = source.pattern.find(settings.source_dir, partition)
            plan.file_versions[partition] = version_of(found)
        rows = 0
        try:
            before = source.count(extraction) if source.count else None
            for item, count in take_in(extraction):
                rows += count
                if item is not None:
                    yield item
            if source.count and before is not None:
                plan.counted[partition] = after = source.count(extraction)
                refuse_other_count(source, partition, rows, before, after)
        except Exception as error:
            plan.quarantined.forget(partition)
            if partition is None:
                raise
            failures[partition] = describe(error)
            # What a source's own code raised is for who wrote it; what we refused is a sentence.
            trace = None if isinstance(error, WRITTEN_FOR_USERS) else error
            logger.error(
                "%s: %s could not be read: %s", source.name, partition, failures[partition], exc_info=trace
            )
        else:
            plan.extracted[partition] = rows
            plan.arrivals[partition] = extraction.arrivals
    if plan.extracted and not any(plan.landed.values()):
        # Of a table that dlt has not seen before it would bring nothing, and nothing would be committed.
        yield import_dlt().mark.materialize_table_schema()


def refuse_other_count(
    source: BronzeSource, partition: date | None, rows: int, before: int, after: int
) -> None:
    """Refuse rows that are fewer or more than the source says it has.

    Args:
        before: by the source's own count, before they were read.
        after: and afterwards; between the two every number may be right.

    Raises:
        SourceError: with the numbers.
    """
    if min(before, after) <= rows <= max(before, after):
        return
    said = str(after) if before == after else f"{before}, and afterwards {after}"
    of = f" of {partition}" if partition else ""
    raise SourceError(
        f"{source.name}: {rows} rows{of} were read, but {source.origin} counts {said}. Load it again; if it "
        "differs again, its `extract` does not read what its `count` counts."
    )


def _root_cause(error: BaseException) -> BaseException:
    """The error that dlt wrapped; what that itself came from is not for the user."""
    while (cause := error.__cause__ or error.__context__) is not None:
        if isinstance(error, WRITTEN_FOR_USERS):
            break
        error = cause
    return error
