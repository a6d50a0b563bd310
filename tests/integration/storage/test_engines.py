"""What DuckDB would do on its own: mix spilled rows, believe folder names, lose fields in a struct."""

import multiprocessing
from pathlib import Path

import pytest
from store import Store

from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.errors import StorageError
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec

NAME = "silver.t"
ROWS = 4_000_000


@pytest.fixture
def store(settings: Settings) -> Store:
    return Store(settings)


def count_with_little_memory(folder: Path) -> tuple[int, int]:
    settings = Settings(data_dir=folder, duckdb_memory="100MB", duckdb_threads=1)
    connection = duckdb_session.connect(settings)
    connection.execute(f"create table t as select i, md5(i::varchar) as text from range({ROWS}) r(i)")
    return connection.execute(
        "select count(*), count(distinct i) from (select * from t order by text) where md5(i::varchar) = text"
    ).fetchall()[0]


def test_processes_that_spill_at_once_do_not_read_one_anothers_rows(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(count_with_little_memory, [tmp_path, tmp_path]) == [(ROWS, ROWS)] * 2


def test_a_query_may_end_in_a_comment(store: Store) -> None:
    store.replace(NAME, "select 1 as id, 1 as v -- the end")
    key = MergeKey(("id",))
    write.merge(store.catalog, TableSpec(NAME), store.rows("select 1 as id, 2 as v -- the end"), key)
    assert store.read(NAME) == [(1, 2)]


def test_folders_that_look_like_partitions_are_not_columns(tmp_path: Path) -> None:
    store = Store(Settings(data_dir=tmp_path / "name=prod"))
    store.replace(NAME, "select 1 as id, 'a' as name union all select 2, 'b'")
    rows = store.rows("select 1 as id, 'c' as name")
    write.merge(store.catalog, TableSpec(NAME), rows, MergeKey(("id",)))
    assert store.read(NAME) == [(1, "c"), (2, "b")]


def test_a_merge_keeps_what_was_renamed_inside_of_a_column(store: Store) -> None:
    store.replace(NAME, "select i as id, {'a': 10 + i, 'b': 'x'} as s from range(3) r(i)")
    with store.table(NAME).update_schema() as update:
        update.rename_column("s.a", "c")
    rows = store.rows("select 1 as id, {'c': 0, 'b': 'y'} as s")
    write.merge(store.catalog, TableSpec(NAME), rows, MergeKey(("id",)))
    assert store.read(NAME, "id, s.c, s.b") == [(0, 10, "x"), (1, 0, "y"), (2, 12, "x")]


def test_a_merge_does_not_bring_back_what_was_dropped_inside_of_a_column(store: Store) -> None:
    store.replace(NAME, "select i as id, {'a': 1, 'b': 'old'} as s from range(2) r(i)")
    with store.table(NAME).update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("s.b")
    with store.table(NAME).update_schema() as update:
        from pyiceberg.types import StringType

        update.add_column(("s", "b"), StringType())
    rows = store.rows("select 1 as id, {'a': 1, 'b': 'new'} as s, 'more' as more")
    write.merge(store.catalog, TableSpec(NAME), rows, MergeKey(("id",)))
    assert store.read(NAME, "id, s.b, more") == [(0, None, None), (1, "new", "more")]


def test_a_required_column_of_another_tools_making_becomes_optional(store: Store) -> None:
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    store.catalog.create_namespace("silver")
    schema = Schema(NestedField(1, "x", LongType(), required=True), NestedField(2, "y", LongType()))
    store.catalog.create_table(NAME, schema)
    store.append(NAME, "select 1::bigint as x, 2::bigint as y", "1")
    store.append(NAME, "select 3::bigint as y", "2")
    assert store.read(NAME) == [(1, 2), (None, 3)]


def test_a_merge_by_a_column_that_the_table_lacks_says_so(store: Store) -> None:
    store.replace(NAME, "select 1 as id")
    with pytest.raises(StorageError, match=r"silver\.t has no column code to merge by"):
        rows = store.rows("select 1 as id, 'a' as code")
        write.merge(store.catalog, TableSpec(NAME), rows, MergeKey(("code",)))


def test_a_write_of_many_partitions_makes_one_file_of_each(store: Store) -> None:
    days = "select date '2013-01-01' + (i % 150)::int as d, i as x from range(2000000) r(i)"
    store.replace(NAME, days, partition_by="d")
    assert len(store.table(NAME).inspect.files()) == 150
