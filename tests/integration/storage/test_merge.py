"""Merging by key: which row wins, what is written again, and what is refused."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.catalog import Catalog
from store import Store

from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.errors import MissingKeyError, StorageError
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec, load_table
from lakehouse.storage.write import WriteResult

NAME = "silver.things"
KEY = MergeKey(("id",), cursor="version", deleted="gone")

Row = tuple[int, str, int | None, bool | None]


def values(rows: Sequence[Row]) -> str:
    """SQL of rows (id, name, version, gone), in the order of the batch."""
    listed = ", ".join(
        f"({place}, {key}, '{name}', {'null' if version is None else version}, "
        f"{'null' if gone is None else str(gone).lower()})"
        for place, (key, name, version, gone) in enumerate(rows)
    )
    return (
        f"select id::int as id, name::varchar as name, version::int as version, gone::boolean as gone"
        f" from (values {listed}) as batch(place, id, name, version, gone) order by place"
    )


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


def merge(store: Store, sql: str, key: MergeKey = KEY, **options: Any) -> WriteResult:
    spec = TableSpec(NAME, options.pop("partition_by", None))
    return write.merge(store.catalog, spec, store.rows(sql), key, **options)


def rows(store: Store) -> list[tuple[Any, ...]]:
    return sorted(store.read(NAME), key=str)


def files(catalog: Catalog) -> set[str]:
    table = load_table(catalog, NAME)
    assert table is not None
    return {task.file.file_path for task in table.scan().plan_files()}


def test_the_newest_row_of_a_key_wins_whatever_the_order(store: Store) -> None:
    merge(
        store, values([(1, "a", 1, False), (2, "old", 1, False), (2, "new", 3, False), (2, "mid", 2, False)])
    )
    assert rows(store) == [(1, "a", 1, False), (2, "new", 3, False)]
    merge(store, values([(1, "late", 0, False), (2, "newest", 4, None), (3, "c", 1, False)]))
    assert rows(store) == [(1, "a", 1, False), (2, "newest", 4, None), (3, "c", 1, False)]


def test_without_a_cursor_the_last_of_the_batch_wins(store: Store) -> None:
    key = MergeKey(("id",))
    merge(store, values([(1, "first", 9, None), (1, "last", 1, None)]), key)
    assert rows(store) == [(1, "last", 1, None)]


def test_a_deletion_reaches_the_table_and_a_stale_one_does_not(store: Store) -> None:
    merge(store, values([(1, "a", 5, False), (2, "b", 5, False)]))
    merge(store, values([(1, "a", 6, True), (2, "b", 4, True), (3, "never was", 1, True)]))
    assert rows(store) == [(2, "b", 5, False)]


def test_a_timestamp_marks_a_deletion_by_being_there(store: Store) -> None:
    key = MergeKey(("id",), deleted="deleted_at")
    merge(store, "select 1 as id, null::timestamp as deleted_at union all select 2, null", key)
    merge(store, "select 1 as id, timestamp '2013-01-01' as deleted_at", key)
    assert rows(store) == [(2, None)]


def test_a_number_marks_a_deletion_unless_it_is_0(store: Store) -> None:
    key = MergeKey(("id",), deleted="is_deleted")
    merge(store, "select i as id, 0 as is_deleted from range(3) r(i)", key)
    merge(store, "select 1 as id, 1 as is_deleted union all select 2, null", key)
    assert rows(store) == [(0, 0), (2, None)]


def test_the_same_load_twice_changes_nothing(store: Store) -> None:
    first = merge(store, values([(1, "a", 1, False)]), load_id="load-1")
    again = merge(store, values([(1, "b", 2, False)]), load_id="load-1")
    assert again.snapshot_id == first.snapshot_id
    assert rows(store) == [(1, "a", 1, False)]


def test_insert_only_leaves_what_is_there(store: Store) -> None:
    merge(store, values([(1, "a", 1, False)]), strategy="insert_only")
    before = files(store.catalog)
    merge(store, values([(1, "b", 2, False), (2, "c", 1, False)]), strategy="insert_only")
    assert rows(store) == [(1, "a", 1, False), (2, "c", 1, False)]
    assert before < files(store.catalog)
    snapshot = merge(store, values([(1, "d", 3, False)]), strategy="insert_only").snapshot_id
    assert snapshot == merge(store, values([(2, "d", 3, False)]), strategy="insert_only").snapshot_id


def test_only_files_with_a_touched_key_are_written_again(store: Store) -> None:
    for low in (0, 100, 200):
        store.append(NAME, f"select ({low} + i)::int as id, 'x' as name from range(100) r(i)", f"load-{low}")
    before = files(store.catalog)
    merge(store, "select 150::int as id, 'y' as name", MergeKey(("id",)))
    after = files(store.catalog)
    assert len(before - after) == 1
    assert len(before & after) == 2
    assert len(rows(store)) == 300


def test_a_new_column_comes_with_an_upsert_of_existing_keys(store: Store) -> None:
    merge(store, "select 1 as id, 'a' as name union all select 2, 'b'", MergeKey(("id",)))
    merge(store, "select 2 as id, 'c' as name, 7 as extra", MergeKey(("id",)))
    assert rows(store) == [(1, "a", None), (2, "c", 7)]


def test_a_key_may_move_to_another_partition(store: Store) -> None:
    key = MergeKey(("id",))
    merge(
        store,
        "select 1 as id, date '2013-01-01' as d union all select 2, date '2013-01-01'",
        key,
        partition_by="d",
    )
    merge(store, "select 1 as id, date '2013-01-02' as d", key, partition_by="d")
    assert {(row[0], str(row[1])) for row in rows(store)} == {(1, "2013-01-02"), (2, "2013-01-01")}


def test_a_missing_key_is_refused_by_name(store: Store) -> None:
    merge(store, values([(1, "a", 1, False)]))
    before = rows(store)
    with pytest.raises(MissingKeyError, match=r"silver\.things: 1 rows have no id"):
        merge(store, "select null::int as id, 'x' as name, 1 as version, false as gone")
    with pytest.raises(StorageError, match="no column gone"):
        merge(store, "select 1 as id, 'x' as name, 1 as version")
    with pytest.raises(StorageError, match="needs a key"):
        MergeKey(())
    assert rows(store) == before
    assert store.unreferenced_files() == []


def test_a_composite_key_with_one_part_missing_is_refused(store: Store) -> None:
    with pytest.raises(MissingKeyError, match="no b, which is"):
        merge(store, "select 1 as a, null::int as b", MergeKey(("a", "b")))


def apply(held: dict[int, Row], batch: Sequence[Row]) -> dict[int, Row]:
    """What an upsert has to do, row by row."""

    def version(row: Row) -> float:
        return float("-inf") if row[2] is None else row[2]

    newest: dict[int, Row] = {}
    for row in batch:
        if row[0] not in newest or version(row) >= version(newest[row[0]]):
            newest[row[0]] = row
    result = dict(held)
    for key, row in newest.items():
        if key in held and version(held[key]) > version(row):
            continue
        result.pop(key, None)
        if not row[3]:
            result[key] = row
    return result


batches = st.lists(
    st.lists(
        st.tuples(
            st.integers(0, 6),
            st.sampled_from("abc"),
            st.one_of(st.none(), st.integers(0, 3)),
            st.sampled_from([True, False, False, None]),
        ),
        min_size=1,
        max_size=8,
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches)
def test_upserts_do_what_a_dictionary_does(store: Store, batches: list[list[Row]]) -> None:
    if load_table(store.catalog, NAME) is not None:
        store.catalog.drop_table(NAME)
    held: dict[int, Row] = {}
    for batch in batches:
        merge(store, values(batch))
        held = apply(held, batch)
        assert rows(store) == sorted(held.values(), key=str)
