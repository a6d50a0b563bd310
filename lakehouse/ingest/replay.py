"""Loading again, from quarantine, what a source that adds to its table will not give again.

It is a load of its own, but that dlt has no part in it: the rows are here already. What fits and breaks no
rule is published in one commit; the rest goes back to quarantine with what is wrong with it now. Each
row keeps the load that brought it from the source, which without a cursor says what is newer.
"""

import dataclasses
import logging
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.catalog import open_catalog
from lakehouse.ingest.descriptions import about, describe
from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.incoming import columns_of
from lakehouse.ingest.landed import LandedRows, relation_of
from lakehouse.ingest.load import LoadReport
from lakehouse.ingest.load_plan import LoadPlan
from lakehouse.ingest.publish import commit
from lakehouse.ingest.replayed import Replayed
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.backlog import Backlog
from lakehouse.quality.contract_keys import SchemaMode
from lakehouse.quality.quarantine import Quarantine, Quarantined
from lakehouse.storage import duckdb_session
from lakehouse.storage.errors import CommitUnknownError, StorageError
from lakehouse.storage.lock import exclusive
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.staging import StagedFile
from lakehouse.storage.tables import load_table
from lakehouse.storage.write import WriteResult

if TYPE_CHECKING:
    from lakehouse.settings import Settings

logger = logging.getLogger(__name__)

CAME_BY = "_load_id"


def replay(source: BronzeSource, settings: "Settings", run_id: str = "by-hand") -> LoadReport:
    """Load the rows that quarantine holds of a table that is appended to or merged.

    A row is never in the table twice, whenever a replay ends and whatever else loads meanwhile.

    Raises:
        LoadError: nothing was published, and the rows are in quarantine as before.
    """
    if source.writes not in ("append", "merge"):
        raise LoadError(f"{source.name} is written by {source.writes}: load it again from its source.")
    folder = settings.dlt_dir / "runs" / f"{source.table}-{uuid.uuid4()}"
    busy = f"{source.name} is being replayed by another process: wait for its end."
    plan: LoadPlan | None = None
    try:
        with exclusive(settings.data_dir / "locks" / f"replay-{source.name}", busy):
            folder.mkdir(parents=True)
            plan = _plan(source, settings, run_id)
            return _replay(plan, settings, folder)
    except Exception as error:
        said = about(source.name, describe(error))
        raise LoadError(said, plan.checks if plan else None) from error
    finally:
        if plan is not None:
            plan.connection.close()
        shutil.rmtree(folder, ignore_errors=True)


def _plan(source: BronzeSource, settings: "Settings", run_id: str) -> LoadPlan:
    """What is about to be written: row by row what fits is taken, and of each key the newest."""
    key = source.key
    if key is not None and key.cursor is None and source.strategy == "upsert":
        key = MergeKey(key.columns, CAME_BY, key.deleted)
    mode: SchemaMode = "discard_value" if source.mode == "discard_value" else "discard_row"
    connection = duckdb_session.connect(settings)
    plan = LoadPlan(
        dataclasses.replace(source, key=key, schema_mode=mode),
        open_catalog(settings),
        connection,
        run_id,
        settings.keep_snapshots,
        Quarantined(connection, source.contract.version if source.contract else ""),
        settings,
        replays=True,
    )
    plan.load_id = str(plan.loaded_at.timestamp())
    return plan


def _replay(plan: LoadPlan, settings: "Settings", folder: Path) -> LoadReport:
    quarantine = Quarantine(
        plan.catalog, plan.source.name, str(plan.load_id), plan.run_id, plan.keep_snapshots
    )
    backlog = Backlog(quarantine, plan.connection)
    backlog.settle()  # what a replay that died had begun
    if backlog.take_up():
        try:
            plan.results[plan.source.table] = _publish(plan, settings, folder, quarantine, backlog)
        except CommitUnknownError:
            raise  # the next replay settles it: it may be published yet
        except Exception:
            _settle(backlog)
            raise
        _settle(backlog)
    aside = plan.quarantined
    result = plan.results.get(plan.source.table)
    return LoadReport(plan.load_id, plan.extracted, {}, result, aside.rows, aside.values, plan.checks)


def _publish(
    plan: LoadPlan, settings: "Settings", folder: Path, quarantine: Quarantine, backlog: Backlog
) -> WriteResult:
    """What the destination does with a load's files."""
    files = [file.path for file in _land(plan, settings, folder, backlog.taken_up())]
    connection = plan.connection.cursor()
    duckdb_session.set_time_zone(connection)
    rows = dataclasses.replace(
        _rows(plan, relation_of(files)), connection=connection, came_by=CAME_BY if files else None
    )
    return commit(plan, rows, files, quarantine)


def _land(plan: LoadPlan, settings: "Settings", folder: Path, rows: str) -> Sequence[StagedFile]:
    """Write the rows that fit; what does not is set aside.

    Raises:
        SourceError: rows got lost on the way.
    """
    source, table = plan.source, load_table(plan.catalog, plan.source.name)
    extraction = Extraction(
        None,
        source,
        settings,
        plan.connection,
        folder,
        source.prestager(plan.catalog, plan.keep_snapshots),
        str(plan.load_id),
        plan.loaded_at,
        set(),
        plan.quarantined,
        columns_of(table.schema() if table else None),
    )
    by_arrival = source.key is not None and source.key.cursor is None
    replayed = Replayed(extraction, oldest_wins=by_arrival)
    taken = plan.extracted[None] = replayed.keep(rows)
    query = " union all by name ".join(f"({fitting})" for fitting in replayed.sort_out())
    files = extraction.prestager.prestage(
        plan.connection, _rows(plan, f"({query})").query(None), folder / "landed"
    )
    landed = sum(file.rows for file in files)
    if landed + plan.quarantined.rows.get(None, 0) != taken:
        raise SourceError(f"{source.name}: {taken} rows were taken up, but {landed} landed.")
    return files


def _rows(plan: LoadPlan, relation: str) -> LandedRows:
    return LandedRows(plan.connection, relation, plan.source, str(plan.load_id), plan.loaded_at, str, CAME_BY)


def _settle(backlog: Backlog) -> None:
    import duckdb

    try:
        backlog.settle()
    except (StorageError, duckdb.Error):
        logger.warning(
            "%s: the next replay settles what this one left in quarantine.",
            backlog.quarantine.table,
            exc_info=True,
        )
