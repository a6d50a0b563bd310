"""The project's dlt destination: dlt's `filesystem`, with its Iceberg job replaced by our write path.

dlt keeps its schemas and state as files below the bucket URL, as the parent class does. The
parent's own Iceberg job reads a load into memory and commits batch by batch; ours hands the
load's Parquet files to `lakehouse.storage`, which commits once.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
from dlt.common.destination import DestinationCapabilitiesContext
from dlt.common.destination.client import HasFollowupJobs, LoadJob, RunnableLoadJob
from dlt.common.destination.exceptions import DestinationTerminalException
from dlt.common.schema import Schema
from dlt.common.storages.load_package import load_package_state as current_load_package
from dlt.destinations.impl.filesystem.configuration import FilesystemDestinationClientConfiguration
from dlt.destinations.impl.filesystem.factory import filesystem
from dlt.destinations.impl.filesystem.filesystem import FilesystemClient, IcebergLoadFilesystemJob
from dlt.destinations.job_impl import FinalizedLoadJob, FinalizedLoadJobWithFollowupJobs

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.landed import LandedRows, relation_of
from lakehouse.ingest.load_audit import LoadAudit
from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.ingest.load_state import loads_in, refuse_if_overtaken, says_how_far
from lakehouse.quality.audit import contract_version
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage import write
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.errors import StorageError, reason
from lakehouse.storage.loads import LOAD_ID
from lakehouse.storage.tables import load_table
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from pyiceberg.table import Table


logger = logging.getLogger(__name__)


class DoneJob(RunnableLoadJob):
    """A file that needs no job of its own."""

    def run(self) -> None:
        """Nothing to do."""


class DoneJobWithFollowup(HasFollowupJobs, DoneJob):
    """A data file: the table's one job takes it with all others."""


class IcebergJob(IcebergLoadFilesystemJob):
    """Commits all files of one table of a load at once."""

    _job_client: "IcebergClient"

    def run(self) -> None:
        """Write the load's files; dlt calls this once a table."""
        plan = self._job_client.plan
        if not plan.extracted:
            return  # no partition could be read: dlt still brings its empty file
        rows = LandedRows(
            plan.connection.cursor(),
            relation_of(self.file_paths),
            plan.source,
            self._load_id,
            plan.loaded_at,
            self._schema.naming.normalize_identifier,
        )
        rows.connection.execute("set TimeZone = 'UTC'")
        quarantine = Quarantine(
            plan.catalog, plan.source.name, self._load_id, plan.run_id, plan.keep_snapshots
        )
        try:
            precondition = self._job_client.stage_state(self._load_id)
            plan.results[plan.source.table] = commit(plan, rows, self.file_paths, quarantine, precondition)
            settle(plan, quarantine)
        except (StorageError, duckdb.Error) as error:
            # Terminal: the same files would fail the same way at each of dlt's retries.
            raise DestinationTerminalException(reason(error)) from error


def commit(
    plan: LoadPlan,
    rows: LandedRows,
    files: Sequence[str],
    quarantine: Quarantine,
    precondition: Callable[["Table | None"], None] | None = None,
) -> WriteResult:
    """Write a load's rows, and its files if they fit, to the Bronze table by its strategy, as one commit."""
    source = plan.source
    spec = source.spec(plan.keep_snapshots)
    summary = {RUN_ID: plan.run_id, LOAD_ID: rows.load_id, **contract_version(source.contract)}
    audit = LoadAudit(plan, quarantine, rows.connection)
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


class IcebergClient(FilesystemClient):
    """dlt's filesystem client with our job for Iceberg tables."""

    def __init__(
        self,
        schema: Schema,
        config: FilesystemDestinationClientConfiguration,
        capabilities: DestinationCapabilitiesContext,
        plan: LoadPlan,
    ) -> None:
        super().__init__(schema, config, capabilities)
        self.plan = plan

    def update_stored_schema(
        self,
        only_tables: Iterable[str] = (),
        expected_update: Any = None,
        force: bool = False,
    ) -> Any:
        """Refuse a second table before the first is committed and before dlt remembers it.

        Raises:
            SourceError: the source brought nested data.
        """
        known = {self.plan.source.table, *self.schema.dlt_table_names()}
        if others := sorted(set(only_tables) - known):
            raise SourceError(
                f"{self.plan.source.origin} brought a second table, {others[0]}. Give nested data a column "
                "of type json in the contract, or yield it from a source of its own."
            )
        return super().update_stored_schema(only_tables, expected_update, force)

    def get_stored_state(self, pipeline_name: str) -> Any:
        """The state of the newest load that counts."""
        self.plan.read_from = self._newest_state(self._loads())
        return super().get_stored_state(pipeline_name)

    def stage_state(self, load_id: str) -> Callable[["Table | None"], None] | None:
        """Store the state that counts once the load is committed; returns what the commit is to check."""
        state = current_load_package()["state"].get("pipeline_state")
        if self.plan.source.write_disposition == "replace" or not state:
            return None
        self._store_current_state(load_id)
        if not says_how_far(state):
            return None
        return refuse_if_overtaken(self.plan.source.name, self.plan.read_from, self._newest_state)

    def get_load_job_class(self, table: Any, file_path: str) -> type[LoadJob]:
        """Jobs that tell dlt of their end; the parent's, done before they start, let it wait a second."""
        job_class = super().get_load_job_class(table, file_path)
        if issubclass(job_class, FinalizedLoadJobWithFollowupJobs):
            return DoneJobWithFollowup
        return DoneJob if issubclass(job_class, FinalizedLoadJob) else job_class

    def _list_dlt_table_files(
        self, table_name: str, pipeline_name: Any = None
    ) -> Iterator[tuple[str, list[str]]]:
        """The files of one of dlt's own tables; of the states those that count."""
        files = super()._list_dlt_table_files(table_name, pipeline_name)
        if table_name != self.schema.state_table_name or self.plan.source.write_disposition == "replace":
            return files
        loads = self._loads()
        return (file for file in files if file[1][1] in loads)

    def _newest_state(self, loads: set[str]) -> str | None:
        files = super()._list_dlt_table_files(self.schema.state_table_name, self.plan.source.pipeline_name)
        return max((parts[1] for _, parts in files if parts[1] in loads), default=None)

    def _loads(self) -> set[str]:
        return loads_in(load_table(self.plan.catalog, self.plan.source.name))

    @staticmethod
    def get_reference_followup_job_class(table: Any) -> Any:
        """Our job for every data table; dlt's own tables stay files."""
        return IcebergJob if table.get("table_format") == "iceberg" else None


class iceberg(filesystem):
    """The destination of one load. dlt builds its configuration from the parent's arguments."""

    plan: LoadPlan

    def client(self, schema: Schema, initial_config: Any = None) -> IcebergClient:
        """A client that knows the plan."""
        config = self.configuration(initial_config)
        return IcebergClient(schema, config, self.capabilities(config, schema.naming), self.plan)


def destination(bucket_url: str, plan: LoadPlan) -> iceberg:
    """The destination of one load: dlt's schema and state go to the bucket, rows to the plan's table."""
    made = iceberg(bucket_url=bucket_url)
    made.plan = plan
    return made
