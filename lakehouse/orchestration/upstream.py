"""Whether what a model reads was ever built: a green partition without its input would be a lie."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import dagster as dg
from pyiceberg.exceptions import NoSuchTableError

from lakehouse.catalog import open_catalog
from lakehouse.clock import Grain, next_partition
from lakehouse.settings import Settings
from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    from pyiceberg.table import Table


def never_built(
    context: dg.AssetExecutionContext,
    specs: Sequence[dg.AssetSpec],
    dates: Sequence[date],
    grain: Grain | None,
) -> tuple[list[str], dict[date, str]]:
    """Tables without which nothing can be built, and partitions that lack all of an input's.

    What was built by hand counts too: the table says so.

    Args:
        specs: the models of the run; what they read of each other is built by the run itself.
        dates: the partitions of the run; a month lacks its input if it lacks every day of it.
    """
    missing: list[str] = []
    lacking: dict[date, str] = {}
    own = {spec.key for spec in specs}
    for key in sorted({dep.asset_key for spec in specs for dep in spec.deps} - own):
        name = "/".join(key.path)
        if context.job_def.asset_layer.get(key).partitions_def is None:
            if context.instance.get_latest_materialization_event(key) is None and _table(key) is None:
                missing.append(name)
        elif grain is not None:
            built = {date.fromisoformat(part) for part in context.instance.get_materialized_partitions(key)}
            lacks = [day for day in dates if not _any_within(built, day, grain)]
            if lacks:
                built = _partitions_of(_table(key))
                lacking |= {
                    day: f"{name} was never built for it; materialize that first"
                    for day in lacks
                    if not _any_within(built, day, grain)
                }
    return missing, lacking


def _any_within(built: set[date], partition: date, grain: Grain) -> bool:
    """Whether any of these days is in the partition."""
    end = next_partition(partition, grain)
    return partition in built or any(partition <= day < end for day in built)


def _table(key: dg.AssetKey) -> "Table | None":
    try:
        return open_catalog(Settings()).load_table(".".join(key.path))
    except NoSuchTableError:
        return None
    except StorageError as error:
        raise dg.Failure(description=str(error)) from error


def _partitions_of(table: "Table | None") -> set[date]:
    if table is None:
        return set()
    records = table.inspect.partitions().column("partition").to_pylist()
    return {value for record in records for value in record.values() if isinstance(value, date)}
