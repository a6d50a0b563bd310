"""The audit of one model: each chunk is judged by the model's contract before it is published."""

import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import duckdb

from lakehouse.catalog import open_catalog
from lakehouse.clock import Grain
from lakehouse.quality.audit import ContractAudit
from lakehouse.quality.check_result import Results
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.quarantine import Quarantine, Quarantined
from lakehouse.storage import duckdb_session
from lakehouse.storage.errors import StorageError
from lakehouse.storage.staging import RowSource, StagedFile
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import to_iceberg_schema
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from duckdb.sqltypes import DuckDBPyType
    from pyiceberg.catalog import Catalog

    from lakehouse.settings import Settings

logger = logging.getLogger(__name__)


class ModelAudit:
    """What a model's rows must pass between staging and commit.

    Args:
        connection: private; the model's name becomes a view of the judged rows in it.
        types: of the columns that the model gives; the table may have others.
    """

    def __init__(
        self,
        contract: Contract,
        connection: "DuckDBPyConnection",
        catalog: "Catalog",
        settings: "Settings",
        run_id: str,
        spec: TableSpec,
        grain: Grain,
        types: "dict[str, DuckDBPyType]",
        *,
        merges: bool,
    ) -> None:
        self.catalog = catalog
        self.spec = spec
        self.run_id = run_id
        self.quarantined = Quarantined(connection, contract.version)
        self.contract = ContractAudit(
            contract=contract,
            connection=connection,
            catalog=catalog,
            settings=settings,
            run_id=run_id,
            partition_by=spec.partition_by,
            grain=grain,
            expected=[None],
            quarantined=self.quarantined,
            adds=merges,
            given=to_iceberg_schema(types),
        )
        self.begin([None])

    def begin(self, expected: Sequence[date | None]) -> None:
        """Begin with a write of these partitions, [None] for the whole table."""
        for partition in self.contract.expected:
            self.quarantined.forget(partition)
        self.contract.begin(expected)
        # dlt's load ids are times too: later ones settle what earlier ones set aside.
        load_id = f"{time.time():.6f}"
        self.quarantine = Quarantine(
            self.catalog, self.spec.name, load_id, self.run_id, self.spec.keep_snapshots
        )

    def sift(self, files: Sequence[StagedFile]) -> Mapping[str, str]:
        """Which staged rows break a rule; they are set aside."""
        return self.contract.sift(files)

    def sift_rows(self, rows: RowSource) -> RowSource:
        """The rows of a batch that break no rule; the others are set aside."""
        return self.contract.sift_rows(rows)

    def of_files(self, files: Sequence[StagedFile]) -> Mapping[date | None, str]:
        """Judge what is staged; what is set aside is in quarantine before it is published."""
        self.quarantine.write(self.quarantined, datetime.now(UTC))
        return self.contract.audit(files)

    def settle(self, written: WriteResult) -> None:
        """Let go of what earlier builds set aside of what is now replaced."""
        published = list(written.partitions) if self.contract.expected != [None] else None
        adds = published is None and self.contract.adds
        self.contract.keep_profiles(published, written.snapshot_id)
        try:
            self.quarantine.settle(self.contract.connection, published, list(written.failures), adds=adds)
        except (StorageError, duckdb.Error):  # the rows are published: the next build settles it
            logger.warning(
                "%s: what earlier builds set aside is still there.", self.quarantine.spec.name, exc_info=True
            )


def contract_of(settings: "Settings", table: str) -> Contract | None:
    """A model's contract, None if it has none: Dagster's definitions refuse that, dbt by hand does not.

    Raises:
        ContractError: it is not one.
    """
    file = settings.contracts_dir.joinpath(*table.split(".")).with_suffix(".yml")
    return read_contract(file, table) if file.exists() else None


def judge_published(
    contract: Contract,
    settings: "Settings",
    run_id: str,
    partition_by: str | None,
    grain: Grain | None,
    partitions: Sequence[date] | None,
    known_columns: frozenset[str] = frozenset(),
) -> Results:
    """Judge rows that are published already, partition by partition.

    Args:
        partitions: which; None: all that there are.
        known_columns: columns that the contract need not declare.

    Raises:
        StorageError: there is no such table.
    """
    with closing(duckdb_session.connect(settings)) as connection:
        audit = ContractAudit(
            contract=contract,
            connection=connection,
            catalog=open_catalog(settings),
            settings=settings,
            run_id=run_id,
            partition_by=partition_by,
            grain=grain or "day",
            expected=[None],
            quarantined=Quarantined(connection, contract.version),
            known_columns=known_columns,
        )
        return audit.recheck(partitions)


@contextmanager
def private_connection(connection: "DuckDBPyConnection") -> Iterator["DuckDBPyConnection"]:
    """A cursor with a database of its own, so that its views hide no one else's."""
    name = f"audit_{uuid.uuid4().hex[:8]}"
    cursor = connection.cursor()
    try:
        duckdb_session.set_time_zone(cursor)
        cursor.execute(f"attach ':memory:' as {name}")
        cursor.execute(f"use {name}")
        yield cursor
    finally:
        with suppress(duckdb.Error):  # it goes with the process, then
            cursor.execute("use memory")
            cursor.execute(f"detach {name}")
        cursor.close()
