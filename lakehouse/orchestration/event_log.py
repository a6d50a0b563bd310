"""Dagster's history in SQLite, as Dagster itself keeps it, with files that stay open.

Dagster's own storage opens and closes two or three files for an event, and commits each of them two
or three times. A year of partitions has tens of thousands of events: noting them took longer than
loading and judging them. Here events come in batches, of one transaction. Named in `dagster.yaml`.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from dagster import AssetKey
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData, serialize_value
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import QueuePool

from lakehouse.orchestration.event_rows import kind_of, store_together
from lakehouse.orchestration.partition_wipe import wipe_partitions

OPEN_FILES = 8  # the index and the runs that were last asked for
BATCH = 500  # events of one transaction


class OpenSqliteEventLogStorage(SqliteEventLogStorage):
    """The event log, one SQLite file a run and one index of all, with the last files kept open."""

    def __init__(self, base_dir: str) -> None:
        self._engines: OrderedDict[tuple[str, int], Engine] = OrderedDict()
        self._held: dict[str, Connection] | None = None
        self._known_columns: set[str] = set()
        self._known_tables: set[str] = set()
        super().__init__(base_dir)
        # A batch takes the lock, and each of its statements again.
        self._db_lock = cast("threading.Lock", threading.RLock())
        # Dagster keeps events that belong together back until the batch is full or ends, if it is told so.
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(BATCH))

    def store_event(self, event: EventLogEntry) -> None:
        """Note an event in the run's file and the index."""
        self.store_event_batch([event])

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Note events, all or none of them, and touch the runs' files.

        The UI watches the files to see what a run does, and SQLite writes beside a file that stays open.
        """
        with self._one_transaction():
            for kind, some in groupby(events, kind_of):
                if kind:
                    store_together(self, [*some])
                    continue
                for event in some:
                    super().store_event(event)
        for run_id in {event.run_id for event in events}:
            os.utime(self.path_for_shard(run_id))

    def wipe_asset_partitions(self, asset_key: AssetKey, partition_keys: Sequence[str]) -> None:
        """Forget some partitions, as the UI's wipe asks for."""
        wipe_partitions(self, asset_key, partition_keys)

    @property
    def supports_asset_checks(self) -> bool:
        """True: the index is made so. The parent opens the file to look, for each event."""
        return True

    def has_table(self, table_name: str) -> bool:
        """Whether the index has a table; the parent opens the file to look, for each event."""
        if table_name not in self._known_tables and super().has_table(table_name):
            self._known_tables.add(table_name)
        return table_name in self._known_tables

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        """Whether the index has a column; asked for each materialization, once looked up."""
        if column_name not in self._known_columns and super()._has_asset_key_col_on_connection(
            conn, column_name
        ):
            self._known_columns.add(column_name)
        return column_name in self._known_columns

    def _store_asset_check_evaluation_planned(self, event: EventLogEntry, event_id: int | None) -> None:
        """A row for each partition that a check is to judge; the parent writes the event out for each."""
        said: Any = event.dagster_event and event.dagster_event.event_specific_data
        keys = said.partitions_subset.get_partition_keys() if said.partitions_subset else ()
        if not keys:
            super()._store_asset_check_evaluation_planned(event, event_id)
            return
        row = {
            "asset_key": said.asset_key.to_string(),
            "check_name": said.check_name,
            "run_id": event.run_id,
            "execution_status": AssetCheckExecutionRecordStatus.PLANNED.value,
            "evaluation_event": serialize_value(event),
            "evaluation_event_timestamp": self._event_insert_timestamp(event),  # type: ignore[no-untyped-call]
            "evaluation_event_storage_id": event_id,
        }
        keys = said.partitions_subset.get_partition_keys()
        with self.index_connection() as connection:
            connection.execute(
                AssetCheckExecutionsTable.insert(), [{**row, "partition": key} for key in keys]
            )

    @contextmanager
    def _one_transaction(self) -> Iterator[None]:
        """Whatever file is asked for meanwhile has one transaction, which ends with this."""
        with self._db_lock, ExitStack() as transactions:
            self._held, self._transactions = {}, transactions
            try:
                yield
            finally:
                self._held = None

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        """A transaction in one file, or the batch's; like the parent's, one at a time."""
        with self._db_lock:
            if self._held is None:
                with self._begin(shard) as connection:
                    yield connection
                return
            if shard not in self._held:
                self._held[shard] = self._transactions.enter_context(self._begin(shard))
            yield self._held[shard]

    @contextmanager
    def _begin(self, shard: str) -> Iterator[Connection]:
        if shard not in self._initialized_dbs or not Path(self.path_for_shard(shard)).exists():
            with self._new_engine(shard) as engine:
                self._initdb(engine)
            self._initialized_dbs.add(shard)
        with self._engine(shard).begin() as connection:
            yield connection

    def _engine(self, shard: str) -> Engine:
        """The file's engine: another once the file is another, as after `make clean`."""
        key = shard, Path(self.path_for_shard(shard)).stat().st_ino
        if key not in self._engines:
            self._engines[key] = self._make_engine(shard)
        self._engines.move_to_end(key)
        while len(self._engines) > OPEN_FILES:
            self._engines.popitem(last=False)[1].dispose()
        return self._engines[key]

    @contextmanager
    def _new_engine(self, shard: str) -> Iterator[Engine]:
        engine = self._make_engine(shard)
        yield engine
        engine.dispose()

    def _make_engine(self, shard: str) -> Engine:
        return create_engine(
            self.conn_string_for_shard(shard),
            poolclass=QueuePool,
            pool_size=1,
            connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
        )

    def dispose(self) -> None:
        """Close the files."""
        super().dispose()
        with self._db_lock:
            while self._engines:
                self._engines.popitem()[1].dispose()


class OpenSqliteStorage(DagsterSqliteStorage):
    """Dagster's SQLite storage with that event log; the files are the same, so either can read them."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage.dispose()
        self._event_log_storage = OpenSqliteEventLogStorage(self._event_log_storage._base_dir)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "OpenSqliteStorage":
        """The storage that `dagster.yaml` describes."""
        return cls.from_local(inst_data=inst_data, **config_value)
