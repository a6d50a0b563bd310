"""The three writes: their rows, their snapshots, and that doing them again changes nothing."""

from datetime import date, timedelta

import pyarrow.parquet as pq
import pytest
from store import D1, D2, D3, Store

from lakehouse.storage import staging
from lakehouse.storage.commit import PARTITIONS, ROWS, RUN_ID
from lakehouse.storage.errors import StorageError
from lakehouse.storage.loads import LOAD_ID
from lakehouse.storage.merge import MergeKey
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.write import merge, overwrite_partitions

THREE_DAYS = "select date '2013-01-01' + (i // 2)::int as d, i as x from range(6) r(i)"


def test_replace_leaves_exactly_the_new_rows(store: Store) -> None:
    store.replace("gold.t", "select i as x from range(3) r(i)")
    result = store.replace("gold.t", "select i as x from range(10, 12) r(i)", summary={RUN_ID: "run-7"})

    assert store.read("gold.t") == [(10,), (11,)]
    assert result.rows == 2
    assert store.snapshots("gold.t") == 2
    snapshot = store.table("gold.t").current_snapshot()
    assert snapshot is not None and snapshot.summary is not None
    assert snapshot.snapshot_id == result.snapshot_id
    assert snapshot.summary[RUN_ID] == "run-7"
    assert snapshot.summary[ROWS] == "2"


def test_append_adds_and_the_same_load_adds_nothing(store: Store) -> None:
    store.append("bronze.t", "select 1 as x", "load-1")
    first = store.append("bronze.t", "select 2 as x", "load-2")
    again = store.append("bronze.t", "select 2 as x", "load-2")

    assert store.read("bronze.t") == [(1,), (2,)]
    assert store.snapshots("bronze.t") == 2
    assert again.snapshot_id == first.snapshot_id
    assert again.rows == first.rows
    assert store.table("bronze.t").current_snapshot().summary[LOAD_ID] == "load-2"


def test_overwrite_replaces_its_partitions_and_no_other(store: Store) -> None:
    store.overwrite("silver.t", THREE_DAYS, [D1, D2, D3])
    result = store.overwrite("silver.t", "select date '2013-01-02' as d, 99 as x", [D2])

    assert store.read("silver.t") == [(D1, 0), (D1, 1), (D2, 99), (D3, 4), (D3, 5)]
    assert result.partitions == {D2: 1}
    assert store.snapshots("silver.t") == 2
    assert store.table("silver.t").current_snapshot().summary[PARTITIONS] == "2013-01-02"


def test_days_in_any_order_are_the_same_as_one_range_and_as_everything_twice(store: Store) -> None:
    days = [D1, D2, D3]
    store.overwrite("silver.whole", THREE_DAYS, days)
    for day in (D3, D1, D2):
        store.overwrite("silver.single", THREE_DAYS, [day])
    for _ in range(2):
        store.overwrite("silver.twice", THREE_DAYS, days)
        store.overwrite("silver.twice", THREE_DAYS, [D2])

    assert store.read("silver.single") == store.read("silver.whole")
    assert store.read("silver.twice") == store.read("silver.whole")
    assert len(store.read("silver.whole")) == 6


def test_a_partition_without_rows_loses_its_old_ones(store: Store) -> None:
    store.overwrite("silver.t", THREE_DAYS, [D1, D2])
    result = store.overwrite("silver.t", f"select * from ({THREE_DAYS}) where d <> '2013-01-02'", [D1, D2])

    assert result.partitions == {D1: 2, D2: 0}
    assert store.read("silver.t") == [(D1, 0), (D1, 1)]


def test_what_changes_nothing_makes_no_snapshot(store: Store) -> None:
    store.overwrite("silver.t", THREE_DAYS, [D1])
    before = store.table("silver.t").metadata.current_snapshot_id
    result = store.overwrite("silver.t", THREE_DAYS + " limit 0", [D3])
    empty = store.replace("gold.empty", "select 1 as x where false")

    assert result.snapshot_id == before
    assert store.snapshots("silver.t") == 1
    assert (empty.snapshot_id, store.read("gold.empty")) == (None, [])
    assert store.unreferenced_files() == []


def test_the_first_commit_creates_the_table_and_a_failed_one_leaves_none(store: Store) -> None:
    with pytest.raises(StorageError, match="the audit says no"):
        store.replace("gold.t", "select 1 as x", audit=lambda _: {None: "the audit says no"})
    failed = store.overwrite("gold.p", "select date '2013-01-01' as d, error('broken') as x", [D1])

    assert not store.exists("gold.t")
    assert not store.exists("gold.p")
    assert list(failed.failures) == [D1]
    assert (failed.snapshot_id, failed.metadata_location, failed.rows) == (None, "", 0)
    store.replace("gold.t", "select 1 as x")
    assert store.snapshots("gold.t") == 1


def test_an_old_snapshot_still_reads_as_it_was(store: Store) -> None:
    first = store.replace("gold.t", "select 1 as x")
    store.replace("gold.t", "select 2 as x, 'new' as y")

    assert store.table("gold.t").scan(snapshot_id=first.snapshot_id).to_arrow().to_pylist() == [{"x": 1}]


def test_a_long_range_is_one_commit(store: Store) -> None:
    days = [date(2013, 1, 1) + timedelta(i) for i in range(250)]  # PyIceberg prunes up to 200 values
    sql = "select date '2013-01-01' + (i % 251)::int as d, i as x from range(2510) r(i)"
    store.overwrite("silver.t", sql, [date(2013, 1, 1) + timedelta(250)])
    for _ in range(2):
        result = store.overwrite("silver.t", sql, days)

    assert result.partitions == dict.fromkeys(days, 10)
    assert store.snapshots("silver.t") == 3
    assert store.read("silver.t", "count(*), count(distinct x), count(distinct d)") == [(2510, 2510, 251)]


def test_sorted_files_are_sorted(store: Store) -> None:
    spec = TableSpec("silver.t", "d", sort_by=("x",))
    rows = store.rows("select date '2013-01-01' as d, (i * 7919) % 1000 as x from range(1000) r(i)")
    overwrite_partitions(store.catalog, spec, rows, [D1])

    values = store.table("silver.t").scan().to_arrow()["x"].to_pylist()
    assert values == sorted(values)


def test_a_large_partition_becomes_several_files_in_order(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "FILE_SIZE", "500KB")
    monkeypatch.setattr(staging, "LARGEST_FILE_BYTES", 1_000_000)
    spec = TableSpec("silver.t", "d", sort_by=("x",))
    rows = store.rows(
        "select date '2013-01-01' as d, (hash(i) % 1000000)::bigint as x, {'y': i} as s"
        " from range(400000) r(i)"
        " union all select date '2013-01-02', 0, {'y': 0}"
    )
    for _ in range(2):
        result = overwrite_partitions(store.catalog, spec, rows, [D1, D2])

    assert result.partitions == {D1: 400_000, D2: 1}
    files = [task.file for task in store.table("silver.t").scan().plan_files()]
    assert len(files) > 2
    assert max(file.file_size_in_bytes for file in files) < 3_000_000  # row groups are not cut
    for file in files:
        values = pq.read_table(file.file_path, partitioning=None)["x"].to_pylist()
        assert values == sorted(values)
    assert store.read("silver.t", "count(*), count(distinct s.y), sum(s.y)") == [
        (400_001, 400_000, 399_999 * 200_000)
    ]
    assert store.unreferenced_files() == []


def test_odd_names_and_values_survive(store: Store) -> None:
    sql = """select 1 as "we ird", 2 as "q""uote", 3 as "it's", 4 as "größe", 5 as "select",
        'nan'::double as n, 'it''s; drop table' as s, {'in ner': 1, 'o''k': 2} as st"""
    store.replace("gold.t", sql)

    (row,) = store.read("gold.t")
    assert row[:5] == (1, 2, 3, 4, 5)
    assert row[5] != row[5]
    assert row[6:] == ("it's; drop table", {"in ner": 1, "o'k": 2})


def test_overwrite_without_a_partition_column_is_refused(store: Store) -> None:
    with pytest.raises(StorageError, match=r"silver\.t has no partition column"):
        overwrite_partitions(store.catalog, TableSpec("silver.t"), store.rows("select 1 as x"), [D1])


def test_the_files_of_a_partitioned_table_state_what_rules_them_out(store: Store) -> None:
    spec = TableSpec("silver.t", "d", sort_by=("x",))
    rows = "select date '2013-01-01' as d, x::bigint as x, now() as at, 'w' || x as word from range(9) r(x)"
    overwrite_partitions(store.catalog, spec, store.rows(rows), [D1])
    merged = "select date '2013-01-01' as d, x::bigint as x, x::bigint as k from range(9) r(x)"
    merge(store.catalog, TableSpec("silver.m", "d"), store.rows(merged), MergeKey(("k",)))
    store.replace("silver.whole", rows)

    def stated(name: str) -> set[str]:
        table = store.table(name)
        (file,) = [task.file for task in table.scan().plan_files()]
        return {table.schema().find_column_name(number) or "" for number in file.lower_bounds}

    assert stated("silver.t") == {"d", "x", "at"}
    assert stated("silver.m") == {"d", "k"}
    assert stated("silver.whole") == {"d", "x", "at", "word"}
