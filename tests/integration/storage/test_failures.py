"""What fails leaves the table as it was, names what failed, and nothing on the disk."""

from typing import Any

import pytest
from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError
from pyiceberg.table import Table
from store import D1, D2, D3, Store, once

from lakehouse.storage import commit
from lakehouse.storage.errors import CommitConflictError, SchemaConflictError, StorageError

DAYS = "select date '2013-01-01' + i::int as d, i as x from range(3) r(i)"
NEW = "select date '2013-01-01' + i::int as d, 10 + i as x from range(3) r(i)"


@pytest.fixture
def days(store: Store) -> Store:
    store.overwrite("silver.t", DAYS, [D1, D2, D3])
    return store


def test_a_failing_partition_keeps_its_rows_and_the_others_are_published(days: Store) -> None:
    sql = f"select d, if(d = '2013-01-02', error('no such rate'), x) as x from ({NEW})"
    result = days.overwrite("silver.t", sql, [D1, D2, D3])

    assert days.read("silver.t") == [(D1, 10), (D2, 1), (D3, 12)]
    assert result.partitions == {D1: 1, D3: 1}
    assert list(result.failures) == [D2]
    assert "no such rate" in result.failures[D2]
    assert "LINE" not in result.failures[D2]
    assert days.snapshots("silver.t") == 2
    assert days.unreferenced_files() == []


def test_a_bad_value_is_named(days: Store) -> None:
    sql = f"select d, if(d = '2013-01-02', 'n/a', x::varchar)::integer as x from ({NEW})"
    result = days.overwrite("silver.t", sql, [D1, D2])

    assert "'n/a'" in result.failures[D2]


def test_when_every_partition_fails_nothing_is_committed(days: Store) -> None:
    result = days.overwrite("silver.t", "select d, error('broken') as x, 1 as y from (" + NEW + ")", [D1, D2])

    assert list(result.failures) == [D1, D2]
    assert days.read("silver.t") == [(D1, 0), (D2, 1), (D3, 2)]
    assert days.snapshots("silver.t") == 1
    assert days.unreferenced_files() == []


def test_a_row_of_another_partition_is_refused_by_name(days: Store) -> None:
    result = days.overwrite("silver.t", NEW, [D1], stray=True)

    assert "2 rows belong to another partition than the one being written" in result.failures[D1]
    assert "such as 2013-01-02" in result.failures[D1]
    assert days.read("silver.t") == [(D1, 0), (D2, 1), (D3, 2)]
    assert days.unreferenced_files() == []


def test_a_row_without_a_partition_is_refused(days: Store) -> None:
    sql = "select date '2013-01-01' as d, 7 as x union all select null, 8"
    result = days.overwrite("silver.t", sql, [D1], stray=True)

    assert "1 rows have no d" in result.failures[D1]
    assert days.read("silver.t") == [(D1, 0), (D2, 1), (D3, 2)]
    assert days.unreferenced_files() == []


def test_what_the_audit_refuses_is_not_published(days: Store) -> None:
    result = days.overwrite("silver.t", NEW, [D1, D2], audit=lambda _: {D1: "too few rows"})

    assert result.failures == {D1: "too few rows"}
    assert days.read("silver.t") == [(D1, 0), (D2, 11), (D3, 2)]
    assert days.unreferenced_files() == []


def test_the_audit_does_not_hide_why_a_partition_failed(days: Store) -> None:
    sql = f"select d, if(d = '2013-01-02', error('no such rate'), x) as x from ({NEW})"
    result = days.overwrite("silver.t", sql, [D1, D2], audit=lambda _: {D2: "0 rows were staged"})

    assert "no such rate" in result.failures[D2]


def test_an_audit_that_raises_leaves_nothing(days: Store) -> None:
    def audit(_: Any) -> dict[Any, str]:
        raise RuntimeError("the audit itself is broken")

    with pytest.raises(RuntimeError, match="the audit itself"):
        days.overwrite("silver.t", NEW, [D1], audit=audit)
    with pytest.raises(RuntimeError, match="the audit itself"):
        days.replace("silver.u", "select 1 as x", audit=audit)

    assert days.read("silver.t") == [(D1, 0), (D2, 1), (D3, 2)]
    assert days.unreferenced_files() == []


def test_a_failed_replace_or_append_leaves_nothing(store: Store) -> None:
    store.replace("gold.t", "select 1 as x")
    many = "select if(i = 400000, error('late'), i)::integer as x from range(500000) r(i)"
    for attempt in (lambda: store.replace("gold.t", many), lambda: store.append("gold.t", many, "load")):
        with pytest.raises(Exception, match="late"):
            attempt()

    assert store.read("gold.t") == [(1,)]
    assert store.snapshots("gold.t") == 1
    assert store.unreferenced_files() == []


def test_an_interruption_after_the_commit_keeps_its_files(
    days: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = Table._do_commit

    def interrupted(self: Table, *args: Any, **kwargs: Any) -> None:
        committed(self, *args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(Table, "_do_commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        days.overwrite("silver.t", NEW, [D1])
    monkeypatch.undo()

    assert days.read("silver.t") == [(D1, 10), (D2, 1), (D3, 2)]


def test_an_interruption_before_the_commit_leaves_nothing(
    days: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Table, *args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Table, "_do_commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        days.overwrite("silver.t", NEW, [D1])
    monkeypatch.undo()

    assert days.read("silver.t") == [(D1, 0), (D2, 1), (D3, 2)]
    assert days.unreferenced_files() == []


def test_when_other_writers_always_win_it_says_so(days: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: Table, *args: Any, **kwargs: Any) -> None:
        raise CommitFailedException("branch main has changed")

    monkeypatch.setattr(Table, "_do_commit", lost)
    monkeypatch.setattr(commit, "COMMIT_ATTEMPTS", 2)
    with pytest.raises(CommitConflictError, match=r"silver\.t: other writers changed .* 2 attempts"):
        days.overwrite("silver.t", NEW, [D1])
    monkeypatch.undo()

    assert days.unreferenced_files() == []


def test_a_table_that_another_writer_just_created_is_written_to(store: Store) -> None:
    other = "select date '2013-01-01' as d, 1 as x"
    audit = once(lambda: store.overwrite("silver.t", other, [D1]))
    store.overwrite("silver.t", "select date '2013-01-02' as d, 2 as x", [D2], audit=audit)

    assert store.read("silver.t") == [(D1, 1), (D2, 2)]
    assert store.unreferenced_files() == []


@pytest.mark.parametrize("error", [CommitFailedException, TableAlreadyExistsError])
def test_a_lost_race_is_run_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    commit_table, losses = Table._do_commit, [error("another writer was first")]

    def lost_once(self: Table, *args: Any, **kwargs: Any) -> None:
        if losses:
            raise losses.pop()
        commit_table(self, *args, **kwargs)

    monkeypatch.setattr(Table, "_do_commit", lost_once)
    store.overwrite("silver.t", DAYS, [D1, D2])

    assert store.read("silver.t") == [(D1, 0), (D2, 1)]
    assert store.snapshots("silver.t") == 1
    assert store.unreferenced_files() == []


def test_a_write_that_ends_up_changing_nothing_reports_the_snapshot_that_is_there(days: Store) -> None:
    audit = once(lambda: days.overwrite("silver.t", NEW + " limit 0", [D1]))
    result = days.overwrite("silver.t", NEW + " limit 0", [D1], audit=audit)

    assert result.snapshot_id == days.table("silver.t").metadata.current_snapshot_id
    assert days.read("silver.t") == [(D2, 1), (D3, 2)]


def test_a_load_that_another_process_just_brought_is_not_added_again(store: Store) -> None:
    store.append("bronze.t", "select 0 as x", "load-0")
    audit = once(lambda: store.append("bronze.t", "select 1 as x", "load-1"))
    store.append("bronze.t", "select 1 as x", "load-1", audit=audit)

    assert store.read("bronze.t") == [(0,), (1,)]
    assert store.unreferenced_files() == []


def test_rows_staged_for_an_older_schema_are_staged_anew(days: Store) -> None:
    """The column's id changed meanwhile: with the old one its values would read null."""
    audit = once(lambda: days.replace("silver.t", "select date '2013-01-03' as d, 'text' as x", "d"))
    with pytest.raises(SchemaConflictError, match=r"silver\.t\.x is string, but the new rows bring int"):
        days.overwrite("silver.t", "select date '2013-01-02' as d, 5::integer as x", [D2], audit=audit)

    assert days.read("silver.t") == [(D3, "text")]
    assert days.unreferenced_files() == []


def test_columns_that_two_writers_add_at_once_are_both_there(days: Store) -> None:
    other = "select date '2013-01-01' as d, 3::bigint as x, 'theirs' as z"
    audit = once(lambda: days.overwrite("silver.t", other, [D1]))
    days.overwrite(
        "silver.t", "select date '2013-01-02' as d, 4::bigint as x, 'mine' as y", [D2], audit=audit
    )

    assert days.read("silver.t", "d, x, y, z") == [
        (D1, 3, None, "theirs"),
        (D2, 4, "mine", None),
        (D3, 2, None, None),
    ]


def test_the_partition_column_has_to_be_a_date_of_the_rows(store: Store) -> None:
    with pytest.raises(StorageError, match=r"silver\.t is to be partitioned by d, which is string"):
        store.replace("silver.t", "select '2013-01-01' as d", "d")
    with pytest.raises(StorageError, match=r"silver\.t is to be partitioned by d, which is not among"):
        store.replace("silver.t", "select 1 as x", "d")


def test_a_table_partitioned_in_another_way_is_refused_until_it_is_replaced(store: Store) -> None:
    store.replace("silver.t", DAYS)
    with pytest.raises(SchemaConflictError, match=r"silver\.t is partitioned by nothing, .* by d"):
        store.overwrite("silver.t", NEW, [D1])

    store.replace("silver.t", DAYS, "d")
    store.overwrite("silver.t", NEW, [D1])
    assert store.read("silver.t") == [(D1, 10), (D2, 1), (D3, 2)]
    store.replace("silver.t", DAYS)
    store.append("silver.t", NEW, "load")
    assert len(store.read("silver.t")) == 6
    assert store.unreferenced_files() == []
