"""The snapshot of a commit: files in, files out, small manifests merged, old snapshots dropped.

What stands here is not all of PyIceberg's public API; `test_history.py` notices if it changes.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import ExpireSnapshots, _ManifestMergeManager, _OverwriteFiles

from lakehouse.storage.loads import remember_loads

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile, ManifestFile
    from pyiceberg.table import Transaction

# Each commit brings a manifest, and readers and writers open all that may concern them.
MANIFESTS_TO_MERGE = 20
# Some 250 files each. Iceberg's default of 8 MB would make it one manifest for years of partitions, which
# DuckDB reads whole even for a single one: the read of one of 1,000 took half as long again.
MANIFEST_BYTES = 64 * 1024


class MergingOverwrite(_OverwriteFiles):
    """An overwrite after which the table does not have many small manifests."""

    def _process_manifests(self, manifests: "list[ManifestFile]") -> "list[ManifestFile]":
        return _ManifestMergeManager(
            target_size_bytes=MANIFEST_BYTES,
            min_count_to_merge=MANIFESTS_TO_MERGE,
            merge_enabled=True,
            snapshot_producer=self,
        ).merge_manifests(manifests)


def add_snapshot(
    transaction: "Transaction",
    added: Sequence["DataFile"],
    removed: Sequence["DataFile"],
    summary: Mapping[str, str],
) -> int:
    """Add one snapshot to the transaction; returns its id."""
    producer = MergingOverwrite(
        operation=Operation.OVERWRITE if removed else Operation.APPEND,
        transaction=transaction,
        io=transaction._table.io,
        snapshot_properties=dict(summary),
    )
    with producer:
        for data_file in added:
            producer.append_data_file(data_file)
        for data_file in removed:
            producer.delete_data_file(data_file)
    return producer.snapshot_id


def drop_old_snapshots(transaction: "Transaction", keep: int) -> None:
    """Let the transaction end a table's history before its newest `keep` snapshots.

    Snapshots that a branch or tag points to stay. Files that only dropped ones name stay too,
    until `lakehouse maintain` finds them.
    """
    metadata = transaction.table_metadata
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    newest = sorted(metadata.snapshots, key=lambda snapshot: snapshot.sequence_number or 0, reverse=True)
    old = [snapshot for snapshot in newest[keep:] if snapshot.snapshot_id not in named]
    if old:
        remember_loads(transaction, old[::-1])
        with ExpireSnapshots(transaction) as expire:
            expire.by_ids([snapshot.snapshot_id for snapshot in old])
