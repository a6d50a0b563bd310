"""The dbt-duckdb plugin: every table as a view pinned to a snapshot, every model as one commit.

dbt-duckdb makes one `Plugin` a process. The materialization `iceberg` (in `dbt_project/macros`)
hands each model to `store`.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

from lakehouse.catalog import open_catalog
from lakehouse.clock import Grain, next_partition
from lakehouse.quality.audit import contract_version
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan, write
from lakehouse.storage.commit import RUN_ID
from lakehouse.storage.errors import StorageError
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.sql import literal
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import describe
from lakehouse.transform.invocation import read_invocation
from lakehouse.transform.lineage import column_lineage
from lakehouse.transform.model_audit import ModelAudit, contract_of, private_connection
from lakehouse.transform.model_result import ModelResult, write_result
from lakehouse.transform.window import Window, chunks

if TYPE_CHECKING:
    from dbt.adapters.duckdb.utils import TargetConfig
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType


SHOWN_FAILURES = 3  # the first tell what is wrong; Dagster shows all


@dataclass(frozen=True)
class _ModelRows:
    """A model's rows. Its SQL reads the window from session variables (`in_partition_window`)."""

    connection: "DuckDBPyConnection"
    sql: str
    grain: Grain

    def query(self, partitions: Sequence[date] | None) -> str:
        window = Window(min(partitions), next_partition(max(partitions), self.grain)) if partitions else None
        _set_window(self.connection, window)
        return self.sql


class Plugin(BasePlugin):
    """Connects dbt to the lakehouse."""

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Read the settings and the window; nothing is opened before dbt connects."""
        self.settings = Settings()
        try:
            self.invocation = read_invocation()
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from error

    def configure_connection(self, conn: "DuckDBPyConnection") -> None:
        """Pin every table at its snapshot of now, so that all models read one state."""
        self.connection = conn
        duckdb_session.prepare(conn, self.settings)
        try:
            self.catalog = open_catalog(self.settings)
            for name in scan.list_tables(self.catalog):
                scan.pin_current(conn, self.catalog.load_table(name))
        except StorageError as error:
            raise DbtRuntimeError(str(error)) from error

    def configure_cursor(self, cursor: "DuckDBPyConnection") -> None:
        """Session settings and variables do not survive into a cursor."""
        duckdb_session.set_time_zone(cursor)
        _set_window(cursor, self.invocation.window)

    def store(self, target_config: "TargetConfig") -> None:
        """Build one model and commit it; called by the materialization.

        Raises:
            DbtRuntimeError: the model failed, or some of its partitions did; those that did not
                are published, and dbt skips what depends on the model.
        """
        model: dict[str, Any] = target_config.config
        name = f"{target_config.relation.schema}.{target_config.relation.identifier}"
        spec = TableSpec(name, model["partition_by"], tuple(model["sort_by"]), self.settings.keep_snapshots)
        with closing(self.connection.cursor()) as cursor:
            duckdb_session.set_time_zone(cursor)
            rows = _ModelRows(cursor, model["sql"], model["partition_grain"])
            with _as_dbt_error(name):
                types = describe(cursor, rows.query(None))
                columns = {column: str(kind) for column, kind in types.items()}
                result = ModelResult(
                    table=name,
                    columns=columns,
                    lineage=column_lineage(rows.sql, list(columns), self._schemas(cursor)),
                )
                with self._audit(spec, model, types) as audit:
                    try:
                        for written in self._write(spec, model, rows, audit):
                            # After each commit, so that what is published is known even if the process dies.
                            result = _judged(result.plus(written), audit)
                            write_result(model["unique_id"], result)
                            if written.metadata_location:
                                scan.pin(cursor, name, written.metadata_location, written.snapshot_id)
                    except Exception:
                        write_result(model["unique_id"], _judged(result, audit))
                        raise
        if result.failures:
            raise DbtRuntimeError(_not_published(result))

    @contextmanager
    def _audit(
        self, spec: TableSpec, model: dict[str, Any], types: "dict[str, DuckDBPyType]"
    ) -> Iterator[ModelAudit | None]:
        """What the model's rows have to pass; None for a model without a contract."""
        contract = contract_of(self.settings, spec.name)
        if contract is None:
            yield None
            return
        with private_connection(self.connection) as connection:
            yield ModelAudit(
                contract,
                connection,
                self.catalog,
                self.settings,
                self.invocation.run_id,
                spec,
                model["partition_grain"],
                types,
                merges=model["strategy"] in ("upsert", "insert_only"),
            )

    def _write(
        self, spec: TableSpec, model: dict[str, Any], rows: _ModelRows, audit: ModelAudit | None
    ) -> Iterator[write.WriteResult]:
        """Write by the model's strategy, one commit a chunk.

        Without a window a partitioned model is written whole.
        """
        summary = {RUN_ID: self.invocation.run_id}
        judge, sift = None, None
        if audit is not None:
            summary |= contract_version(audit.contract.contract)
            judge, sift = audit.of_files, audit.sift
        window = self.invocation.window
        match model["strategy"]:
            case "overwrite_partition" if window is not None:
                left_out = self.invocation.leave_out
                partitions = [day for day in window.partitions(rows.grain) if day not in left_out]
                for chunk in chunks(partitions, rows.grain, self.settings.chunk_partitions):
                    if audit is not None:
                        audit.begin(chunk)
                    written = write.overwrite_partitions(
                        self.catalog, spec, rows, chunk, summary, judge, sift=sift
                    )
                    yield _settled(written, audit)
            case "replace" | "overwrite_partition":
                yield _settled(write.replace(self.catalog, spec, rows, summary, judge, sift=sift), audit)
            case "upsert" | "insert_only" as strategy:
                batch = audit.sift_rows(rows) if audit is not None else rows
                key = _merge_key(model)
                written = write.merge(self.catalog, spec, batch, key, strategy, summary, audit=judge)
                yield _settled(written, audit)
            case other:
                raise StorageError(
                    f"the incremental_strategy {other!r} is none of replace, overwrite_partition, upsert "
                    "and insert_only."
                )

    def _schemas(self, connection: "DuckDBPyConnection") -> dict[str, dict[str, str]]:
        """Columns of every pinned table."""
        schemas: dict[str, dict[str, str]] = {}
        for layer, table, column, kind in connection.execute(
            "select schema_name, view_name, column_name, data_type from duckdb_columns()"
            " join duckdb_views() using (schema_name, database_name)"
            " where view_name = table_name and not duckdb_columns.internal"
        ).fetchall():
            schemas.setdefault(f"{layer}.{table}", {})[column] = kind
        return schemas


def _settled(written: write.WriteResult, audit: ModelAudit | None) -> write.WriteResult:
    if audit is not None:
        audit.settle(written)
    return written


def _judged(result: ModelResult, audit: ModelAudit | None) -> ModelResult:
    if audit is None:
        return result
    return result.judged(audit.contract.results, audit.quarantined.rows)


def _merge_key(model: dict[str, Any]) -> MergeKey:
    """The key of a model that merges, as its config names it."""
    unique_key = model["unique_key"] or ()
    columns = (unique_key,) if isinstance(unique_key, str) else tuple(unique_key)
    return MergeKey(columns, model["cursor"], model["deleted_flag"])


def _set_window(connection: "DuckDBPyConnection", window: Window | None) -> None:
    """Set the session variables that `in_partition_window` compares with; unset, it lets every row pass."""
    for name, day in (
        ("partition_start", window and window.start),
        ("partition_end", window and window.end),
    ):
        connection.execute(f"set variable {name} = {literal(day)}::date" if day else f"reset variable {name}")


def _not_published(result: ModelResult) -> str:
    """The model's error: the first few partitions that failed, each with its reason."""
    shown = [f"{partition}: {reason}" for partition, reason in list(result.failures.items())[:SHOWN_FAILURES]]
    return f"{result.table}: {len(result.failures)} partitions were not published: {'; '.join(shown)}"


@contextmanager
def _as_dbt_error(table: str) -> Iterator[None]:
    """Say what went wrong the way dbt shows it: one message, no stack trace."""
    import duckdb

    try:
        yield
    except (StorageError, duckdb.Error, OSError, ValueError) as error:
        raise DbtRuntimeError(f"{table} was not written: {error}") from error
