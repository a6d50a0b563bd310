"""What an asset tells Dagster, partition by partition.

Dagster gives a range run one step for many partitions, and an output of that step would mark
every one of them as materialized, failed ones too. So each partition's materialization is logged
by itself, as soon as it is committed, and the step's outputs only say that what comes next may run.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION

# Dagster logs no materialization for an output that carries this: the events are ours.
# (Not public; `tests/integration/test_bronze_asset.py` notices if it stops working.)
NO_EVENTS = SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION

SHOWN_FAILURES = 5


def provenance(
    context: dg.AssetExecutionContext, spec: dg.AssetSpec, snapshot_id: str | None
) -> dict[str, str]:
    """What Dagster compares to tell whether an asset is in sync with its code and its parents.

    The data version is the snapshot that a reader finds.
    """
    tags = {
        "dagster/data_version": snapshot_id or "none",
        "dagster/data_version_is_user_provided": "true",
        "dagster/code_version": spec.code_version or "none",
    }
    for dep in spec.deps:
        parent = dep.asset_key.to_user_string()
        records = context.instance.fetch_materializations(dep.asset_key, limit=1).records
        version = (records[0].event_log_entry.tags or {}).get("dagster/data_version") if records else None
        tags[f"dagster/input_data_version/{parent}"] = version or "INITIAL"
        tags[f"dagster/input_event_pointer/{parent}"] = str(records[0].storage_id) if records else "NULL"
    return tags


def materialization(
    key: dg.AssetKey,
    partition: date | None,
    rows: int,
    tags: Mapping[str, str],
    metadata: Mapping[str, Any],
) -> dg.AssetMaterialization:
    """One partition, or one table, that is now published."""
    counted = "dagster/row_count" if partition is None else "dagster/partition_row_count"
    return dg.AssetMaterialization(
        asset_key=key,
        partition=partition.isoformat() if partition else None,
        metadata={counted: rows, "snapshot_id": tags["dagster/data_version"], **metadata},
        tags=tags,
    )


def done(key: dg.AssetKey) -> dg.Output[None]:
    """The output that lets what depends on the asset run; its materializations are logged already."""
    return dg.Output(None, output_name=key.to_python_identifier(), metadata={NO_EVENTS: True})


def column_schema(
    columns: Mapping[str, str], descriptions: Mapping[str, str] | None = None
) -> dg.TableSchema:
    """Column names and types as Dagster shows them."""
    described = descriptions or {}
    return dg.TableSchema(
        columns=[
            dg.TableColumn(name, kind, description=described.get(name)) for name, kind in columns.items()
        ]
    )


def column_lineage(lineage: Mapping[str, list[list[str]]]) -> dg.TableColumnLineage:
    """Column lineage as Dagster shows it; a table `layer.name` is the asset `layer/name`."""
    return dg.TableColumnLineage(
        deps_by_column={
            column: [dg.TableColumnDep(dg.AssetKey(table.split(".")), source) for table, source in sources]
            for column, sources in lineage.items()
        }
    )


def failure(table: str, failures: Mapping[date, str], published: int) -> dg.Failure:
    """The step's failure: which partitions, why, and that the others are published."""
    shown = [f"{partition}: {reason}" for partition, reason in sorted(failures.items())[:SHOWN_FAILURES]]
    if len(failures) > SHOWN_FAILURES:
        shown.append(f"and {len(failures) - SHOWN_FAILURES} more")
    kept = f" The other {published} were." if published else ""
    return dg.Failure(
        description=f"{table}: {len(failures)} of {len(failures) + published} partitions not published, "
        f"what the table had of them is unchanged.{kept} What depends on the table did not run: run it for "
        "these partitions when they are mended, for the others when you like.\n" + "\n".join(shown),
        metadata={str(partition): reason for partition, reason in sorted(failures.items())},
        allow_retries=False,
    )
