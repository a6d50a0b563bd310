"""The project's dlt destination: dlt's `filesystem`, with its Iceberg job replaced by our write path.

dlt keeps its schemas and state as files below the bucket URL, as the parent class does. The
parent's own Iceberg job reads a load into memory and commits batch by batch; ours hands the
load's Parquet files to `lakehouse.storage`, which commits once.
"""

from collections.abc import Callable, Iterable, Iterator
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
from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.ingest.load_state import loads_in, refuse_if_overtaken, says_how_far
from lakehouse.ingest.publish import commit, settle
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage.errors import StorageError, reason
from lakehouse.storage.tables import load_table

if TYPE_CHECKING:
    from pyiceberg.table import Table


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
