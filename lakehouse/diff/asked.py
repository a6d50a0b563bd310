"""What `lakehouse diff` was asked: the table, its two snapshots and its contract's key."""

from datetime import date
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations, open_catalog
from lakehouse.diff.errors import DiffError
from lakehouse.diff.key import declared_key
from lakehouse.diff.table_diff import TableDiff, Wanted, compare
from lakehouse.quality.masking import masked_columns
from lakehouse.quarantined import contract_of
from lakehouse.query_errors import NO_TABLES, no_such_table, unreadable
from lakehouse.storage.errors import StorageError
from lakehouse.storage.point import current, named, parent

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from lakehouse.settings import Settings

# Another at each load, whatever the source says.
OF_THE_LOAD = frozenset({"_load_id", "_loaded_at"})


def diff_of(
    settings: "Settings",
    name: str,
    old: str | None,
    new: str | None,
    *,
    key: tuple[str, ...] | None = None,
    ignored: frozenset[str] = OF_THE_LOAD,
    partition: date | None = None,
    limit: int = 10,
    unmasked: bool = False,
) -> TableDiff:
    """Compare two snapshots of a table.

    Args:
        old: a snapshot, branch, tag or time; None: the parent of the newer.
        new: the same; None: the current snapshot.
        key: columns that rows are paired by; None: the key of the contract.

    Raises:
        DiffError: nothing could be compared.
    """
    try:
        table, name = _table(settings, name)
        contract = contract_of(settings, name)
        after = named(table, new, name) if new else current(table, name)
        before = named(table, old, name) if old else parent(table, after, name)
        wanted = Wanted(
            key=declared_key(contract) if key is None else key,
            ignored=ignored & {field.name for field in table.schema().fields},
            masked=frozenset() if unmasked else masked_columns(contract),
            partition=partition,
            limit=limit,
        )
        return compare(settings, table, name, before, after, wanted)
    except DiffError:
        raise
    except StorageError as error:  # of the catalog or the contract: the exit code is this command's
        raise DiffError(str(error)) from error


def _table(settings: "Settings", name: str) -> "tuple[Table, str]":
    known = metadata_locations(settings)
    if not known:
        raise DiffError(NO_TABLES)
    if name.lower() not in known:
        raise no_such_table(name, (there for there, _ in known.values()))
    found, _ = known[name.lower()]
    try:
        return open_catalog(settings).load_table(found), found
    except StorageError:
        raise
    except Exception as error:  # a file that is gone, damaged or forbidden: each IO has its own errors
        raise DiffError(unreadable(found, error)) from error
