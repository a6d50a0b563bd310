"""A table that is set back has the rows it had, and no other's write is undone with it."""

import pytest
from store import D1, D2, D3, Store

from lakehouse.storage.errors import CommitConflictError, StorageError
from lakehouse.storage.history import began_after, read_history
from lakehouse.storage.rollback import Rollback, left_at, plan_rollback, roll_back, rollbacks

NAME = "silver.t"


def day(number: int, *values: int) -> str:
    return " union all ".join(f"select date '2013-01-0{number}' as d, {value} as v" for value in values)


@pytest.fixture
def snapshots(store: Store) -> list[int]:
    """Two days, then the first one written anew, then a third; the snapshot of each."""
    written = [
        store.overwrite(NAME, f"{day(1, 1)} union all {day(2, 2)}", [D1, D2]),
        store.overwrite(NAME, day(1, 10, 11), [D1]),
        store.overwrite(NAME, day(3, 3), [D3]),
    ]
    return [result.snapshot_id or 0 for result in written]


def planned(store: Store, to: int | None) -> Rollback:
    plan = plan_rollback(store.table(NAME), NAME, to)
    assert plan is not None
    return plan


def test_it_has_the_rows_it_had(store: Store, snapshots: list[int]) -> None:
    plan = planned(store, snapshots[0])
    assert plan == Rollback(NAME, snapshots[2], snapshots[0], (4, 2), {D1: 1, D3: 0})
    roll_back(store.catalog, plan, "a test")
    assert store.read(NAME) == [(D1, 1), (D2, 2)]


def test_it_can_be_undone(store: Store, snapshots: list[int]) -> None:
    before = store.read(NAME)
    roll_back(store.catalog, planned(store, snapshots[0]), "a test")
    roll_back(store.catalog, planned(store, snapshots[2]), "another")
    assert store.read(NAME) == before
    assert [(each["from"], each["to"], each["by"]) for each in rollbacks(store.table(NAME))] == [
        (snapshots[2], snapshots[0], "a test"),
        (snapshots[0], snapshots[2], "another"),
    ]


def test_its_history_says_what_is_current_and_what_was_undone(store: Store, snapshots: list[int]) -> None:
    roll_back(store.catalog, planned(store, snapshots[1]), "a test")
    states = {entry.snapshot_id: entry.state for entry in read_history(store.table(NAME))}
    assert [states[each] for each in snapshots] == ["", "current", "undone"]


def test_it_is_written_to_as_before(store: Store, snapshots: list[int]) -> None:
    roll_back(store.catalog, planned(store, snapshots[0]), "a test")
    store.overwrite(NAME, day(3, 33), [D3])
    assert store.read(NAME) == [(D1, 1), (D2, 2), (D3, 33)]


def test_it_has_no_rows_and_no_loads_where_it_was_not_there_yet(store: Store) -> None:
    store.append(NAME, "select 1 as v", "load-1")
    roll_back(store.catalog, planned(store, None), "a test")
    assert store.read(NAME) == []
    assert plan_rollback(store.table(NAME), NAME, None) is None
    store.append(NAME, "select 1 as v", "load-1")
    assert store.read(NAME) == [(1,)]


def test_what_was_written_since_it_was_planned_stays(store: Store, snapshots: list[int]) -> None:
    plan = planned(store, snapshots[0])
    store.overwrite(NAME, day(2, 22), [D2])
    before = store.read(NAME)
    with pytest.raises(CommitConflictError, match=f"{NAME} was written while it was to be rolled back"):
        roll_back(store.catalog, plan, "a test")
    assert store.read(NAME) == before


def test_a_write_between_look_and_commit_stays(
    store: Store, snapshots: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.table import Transaction

    plan, real = planned(store, snapshots[0]), Transaction.set_properties

    def late(self: Transaction, *args: object, **kwargs: object) -> object:
        monkeypatch.undo()
        store.overwrite(NAME, day(2, 22), [D2])
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Transaction, "set_properties", late)
    with pytest.raises(CommitConflictError):
        roll_back(store.catalog, plan, "a test")
    assert (D2, 22) in store.read(NAME)


def test_a_snapshot_that_is_not_kept_is_refused(store: Store, snapshots: list[int]) -> None:
    with pytest.raises(StorageError, match=f"{NAME} keeps no snapshot 7: `lakehouse history"):
        plan_rollback(store.table(NAME), NAME, 7)


def test_nothing_is_planned_for_what_is_current(store: Store, snapshots: list[int]) -> None:
    assert plan_rollback(store.table(NAME), NAME, snapshots[-1]) is None


def test_a_snapshot_was_current_until_the_next(store: Store, snapshots: list[int]) -> None:
    table = store.table(NAME)
    first, second, _ = (table.metadata.snapshot_by_id(each) for each in snapshots)
    assert first is not None
    assert second is not None
    moment = left_at(table, NAME, snapshots[0])
    assert first.timestamp_ms <= round(moment.timestamp() * 1000) + 1 == second.timestamp_ms
    roll_back(store.catalog, planned(store, snapshots[0]), "a test")
    assert left_at(store.table(NAME), NAME, snapshots[0]) == moment
    assert not began_after(table, moment)
