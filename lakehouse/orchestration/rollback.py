"""Rollback as Dagster sees it: what is built from a table, a job for the UI, and what is recorded of it."""

from collections.abc import Callable, Collection, Iterator

import dagster as dg

from lakehouse.orchestration.forgotten import forgotten
from lakehouse.orchestration.project import load_definitions
from lakehouse.rollback import (
    ROLLBACK_HEADER,
    Plan,
    carry_out,
    moment_text,
    plan,
    rollback_cells,
)
from lakehouse.settings import Settings
from lakehouse.storage.errors import StorageError
from lakehouse.storage.rollback import Rollback

Event = dg.AssetMaterialization | dg.AssetObservation


class RollbackConfig(dg.Config):
    """What to set back, and whether to do it or only to say what it would be."""

    table: str
    to: str
    downstream: bool = False
    dry_run: bool = True


def downstream_of(settings: Settings, table: str) -> list[str]:
    """The assets that are built from a table, directly or not, each after those that it is built from."""
    graph = load_definitions(settings.project_dir).get_repository_def().asset_graph
    key = dg.AssetKey(table.split("."))
    below = dg.AssetSelection.keys(key).downstream(include_self=False).resolve(graph)
    return [".".join(each.path) for each in graph.toposorted_asset_keys if each in below]


def rollback_job() -> dg.JobDefinition:
    """A job that sets a table back, to be started from the Launchpad."""

    @dg.op(name="roll_back")
    def run(context: dg.OpExecutionContext, config: RollbackConfig) -> None:
        settings = Settings()
        try:
            below = downstream_of(settings, config.table) if config.downstream else []
            planned = plan(settings, config.table, config.to, below)
            context.add_output_metadata({"plan": dg.MetadataValue.md(_table(planned))})
            context.log.info("Planned, %s:\n%s", moment_text(planned), _table(planned))
            if config.dry_run:
                context.log.info("Nothing was done: set dry_run to false to do it.")
                return
            by = f"run {context.run_id}"
            for each in carried_out(settings, planned, by, context.instance, context.log_event):
                context.log.info("%s was set back.", each.table)
        except StorageError as error:
            raise dg.Failure(description=str(error), allow_retries=False) from error
        for note in planned.notes:
            context.log.info(note)

    @dg.job(
        name="rollback",
        description="Set a table back to a snapshot or a time, with `downstream` also what was built from "
        "it. Unless `dry_run` is false the run only says what would change.",
    )
    def job() -> None:
        run()

    return job


def carried_out(
    settings: Settings,
    planned: Plan,
    by: str,
    instance: dg.DagsterInstance,
    emit: Callable[[Event], None],
) -> Iterator[Rollback]:
    """Do what was planned, and tell Dagster of what was done, also if not all of it could be.

    Of a table before what is built from it: that would else be older than its parent, and be built again.

    Raises:
        StorageError: a table could not be set back; it and those after it are as they were.
    """
    done: list[Rollback] = []
    try:
        for each in carry_out(settings, planned, by):
            done.append(each)
            yield each
    finally:
        for each in reversed(done):
            _record(instance, each, emit)


def _record(instance: dg.DagsterInstance, each: Rollback, emit: Callable[[Event], None]) -> None:
    """Tell Dagster what a table holds now: which partitions changed, and which are there no more."""
    key = dg.AssetKey(each.table.split("."))
    gone = [day.isoformat() for day, rows in each.partitions.items() if not rows]
    for event in _events(key, each, forgotten(instance, key, gone)):
        emit(event)


def _events(key: dg.AssetKey, each: Rollback, gone: Collection[str]) -> Iterator[Event]:
    version = str(each.to or "none")
    metadata = {"rolled_back_from": str(each.now), "snapshot_id": version}
    yield dg.AssetObservation(
        key,
        description=f"Rolled back from snapshot {each.now} to {each.to or 'no rows'}.",
        metadata={**metadata, "rows_before": each.rows[0], "rows": each.rows[1]},
    )
    tags = {"dagster/data_version": version, "dagster/data_version_is_user_provided": "true"}
    if not each.partitions:
        rows = {"dagster/row_count": each.rows[1]}
        yield dg.AssetMaterialization(key, metadata={**metadata, **rows}, tags=tags)
    for day, rows_then in each.partitions.items():
        if day.isoformat() not in gone:
            counted = {"dagster/partition_row_count": rows_then}
            yield dg.AssetMaterialization(
                key, partition=day.isoformat(), metadata={**metadata, **counted}, tags=tags
            )


def _table(planned: Plan) -> str:
    """The plan in Markdown."""
    if not planned.tables:
        return "Nothing changes."
    rows = [ROLLBACK_HEADER, tuple("---" for _ in ROLLBACK_HEADER), *map(rollback_cells, planned.tables)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
