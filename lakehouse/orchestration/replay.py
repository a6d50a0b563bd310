"""Building again what has rows in quarantine, as runs that the UI shows beside all others."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.orchestration.project import load_definitions, project_instance
from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    import dagster as dg

    from lakehouse.settings import Settings

REPLAY = "lakehouse/replay"  # a tag of these runs
WRITES = "lakehouse/writes"  # metadata of an asset: what a build does with the rows that are there
REPLACING = ("replace", "overwrite_partition")
ADDING = ("append", "merge")
LOG = "replay.log"


class ReplayError(StorageError):
    """Nothing was built. The message is for the user."""


@dataclass(frozen=True)
class Rebuilt:
    """What the runs came to.

    Args:
        failures: what failed, a sentence for each run.
        from_quarantine: whether the rows came from quarantine, and not from their source.
    """

    failures: list[str]
    from_quarantine: bool = False


def rebuild(settings: "Settings", table: str, partitions: Sequence[str | None]) -> Rebuilt:
    """Build these partitions of a table, or (None) all of it.

    A table that its source adds to gets its rows from quarantine.

    Raises:
        ReplayError: the table cannot be built so.
        ProjectError: the project cannot be loaded.
    """
    import dagster as dg

    with project_instance(settings) as instance:
        defs = load_definitions(settings.project_dir)
        key = dg.AssetKey(table.split("."))
        spec = next((spec for spec in defs.resolve_all_asset_specs() if spec.key == key), None)
        if spec is None:
            raise ReplayError(f"{table} is no asset of this project, so that it cannot be built again.")
        _refuse_what_cannot(table, spec)
        ranges = list(_ranges(table, spec, partitions))
        failures = [
            said for first_last in ranges if (said := _run(settings, defs, instance, key, first_last))
        ]
    return Rebuilt(failures, spec.metadata.get(WRITES) in ADDING)


def is_replay(tags: Mapping[str, str], table: str) -> bool:
    """Whether a run is to load a table's rows from quarantine, if its source will not give them again."""
    return tags.get(REPLAY) == table


def _refuse_what_cannot(table: str, spec: "dg.AssetSpec") -> None:
    writes = spec.metadata.get(WRITES)
    if writes in REPLACING or (writes in ADDING and spec.key.path[0] == "bronze"):
        return
    raise ReplayError(
        f"{table} is written by {writes}: its source does not give the same rows again, so that building "
        f"it would not bring back what is in quarantine. `lakehouse quarantine show {table}` gives the "
        "rows; have the source send them again."
    )


def _ranges(
    table: str, spec: "dg.AssetSpec", partitions: Sequence[str | None]
) -> Iterator[tuple[str, str] | None]:
    """The first and last of each unbroken range; None for a table that is built as a whole."""
    from lakehouse.orchestration.ranges import unbroken

    if spec.partitions_def is None:
        yield None
        return
    if None in partitions:
        raise ReplayError(
            f"{table}: some rows were set aside when all of it was built at once, not by partition. Choose "
            "others with --partition, or build it so again."
        )
    keys = spec.partitions_def.get_partition_keys()
    if unknown := sorted({str(partition) for partition in partitions} - set(keys)):
        raise ReplayError(
            f"{table} has no partition {', '.join(unknown)} in Dagster, so that nothing was built. "
            "Choose others with --partition."
        )
    yield from unbroken(keys, (str(partition) for partition in partitions))


def _run(
    settings: "Settings",
    defs: "dg.Definitions",
    instance: "dg.DagsterInstance",
    key: "dg.AssetKey",
    first_last: tuple[str, str] | None,
) -> str | None:
    """One run; returns why it failed. What the tools print goes to a log."""
    from lakehouse.orchestration.ranges import range_tags

    tags = {REPLAY: ".".join(key.path)}
    if first_last is not None:
        tags |= range_tags(first_last)
    with (settings.data_dir / LOG).open("a", encoding="utf-8") as log, contextlib.redirect_stdout(log):
        result = defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            asset_selection=[key],
            tags=tags,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=False,
        )
    return None if result.success else _failure(result)


def _failure(result: "dg.ExecuteInProcessResult") -> str:
    for event in result.all_events:
        if event.is_step_failure and (failure := event.step_failure_data).error is not None:
            user = failure.user_failure_data
            return str(user.description if user else failure.error.message)
    return f"The run {result.run_id} failed; the UI shows why."
