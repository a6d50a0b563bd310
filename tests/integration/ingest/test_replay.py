"""Rows in quarantine of sources that add to their table are loaded again, each once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from replay_sources import LAST, NEWEST, adding, aside, contract, replayed, row, sold
from sources import Lake

from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.source import BronzeSource
from lakehouse.quality.backlog import Backlog
from lakehouse.quality.quarantine import Quarantine
from lakehouse.storage.merge import MergeKey


def test_appended_rows_are_published_after_the_contract_is_mended(lake: Lake, tmp_path: Path) -> None:
    strict, mended = contract(tmp_path), contract(tmp_path, most=100)
    at = datetime(2013, 1, 1, 12, 0, 0, 123456, UTC)
    lake.load(adding(strict, row(1, "1.10"), row(2, "20.55", sold_at=at), row(3, "30")))
    lake.load(adding(strict, row(4, "40"), row(4, "40")))
    loads = aside(lake, "load_id")
    assert sold(lake) == [(1, 1, 1.1)]

    report = replayed(lake, adding(mended))

    assert (report.extracted, report.quarantined) == ({None: 4}, {})
    assert sold(lake) == [(1, 1, 1.1), (2, 1, 20.55), (3, 1, 30), (4, 1, 40), (4, 1, 40)]
    assert aside(lake) == []
    assert (at,) in lake.read("bronze.t", "sold_at")
    # Each row says still which load brought it, and from where.
    came = lake.read("bronze.t", "_load_id, id, _source_file")
    assert [(load,) for load, number, _ in came if number > 1] == loads
    assert {file for _, _, file in came} == {"python:t"}


def test_a_replay_twice_gives_the_same(lake: Lake, tmp_path: Path) -> None:
    strict, mended = contract(tmp_path), contract(tmp_path, most=100)
    lake.load(adding(strict, row(1, "1"), row(2, "20")))
    replayed(lake, adding(mended))
    snapshots = lake.snapshots("bronze.t"), lake.snapshots("quarantine.t")

    again = replayed(lake, adding(mended))

    assert (again.extracted, again.result) == ({}, None)
    assert sold(lake) == [(1, 1, 1), (2, 1, 20)]
    assert (lake.snapshots("bronze.t"), lake.snapshots("quarantine.t")) == snapshots


@pytest.mark.parametrize("key", [None, NEWEST, LAST])
def test_what_still_breaks_a_rule_is_in_quarantine_once(
    lake: Lake, tmp_path: Path, key: MergeKey | None
) -> None:
    lake.load(adding(contract(tmp_path), row(1, "20"), row(2, "200"), row(3, "3"), key=key))
    [*before] = aside(lake, "rule, reason")
    assert before == [
        ("validity_price", "a price: price is 20.00"),
        ("validity_price", "a price: price is 200.00"),
    ]

    better = adding(contract(tmp_path, most=100), key=key)
    for _ in range(2):
        report = replayed(lake, better)
        assert report.quarantined == {None: 1}
        assert sold(lake) == [(1, 1, 20), (3, 1, 3)]
        assert aside(lake, "rule, reason") == [("validity_price", "a price: price is 200.00")]
    replayed(lake, adding(contract(tmp_path, most=1000), key=key))
    assert sold(lake) == [(1, 1, 20), (2, 1, 200), (3, 1, 3)]
    assert aside(lake) == []


def test_a_row_that_breaks_another_rule_now_says_so(lake: Lake, tmp_path: Path) -> None:
    lake.load(adding(contract(tmp_path), row(1, "20"), row(2, "2")))
    other = "checks: [{failed_rows: {qualifier: odd, expression: id = 1, attributes: {quarantine: true}}}]"

    replayed(lake, adding(contract(tmp_path, most=100, checks=other)))

    assert aside(lake) == [("validity_odd", "1")]
    assert sold(lake) == [(2, 1, 2)]


def test_an_older_version_does_not_replace_a_newer_one(lake: Lake, tmp_path: Path) -> None:
    strict = contract(tmp_path)
    bad = row(1, "20", version=2), row(2, "20", version=2), row(3, "20", version=2)
    lake.load(adding(strict, *bad, row(9, "1"), key=NEWEST))
    lake.load(adding(strict, row(1, "3", version=3), row(2, "1", version=1), key=NEWEST))

    report = replayed(lake, adding(contract(tmp_path, most=100), key=NEWEST))

    assert report.extracted == {None: 3}
    assert sold(lake) == [(1, 3, 3), (2, 2, 20), (3, 2, 20), (9, 1, 1)]
    assert aside(lake) == []


def test_without_a_cursor_the_row_that_came_last_counts(lake: Lake, tmp_path: Path) -> None:
    strict = contract(tmp_path)
    lake.load(adding(strict, row(1, "1"), key=LAST))
    lake.load(adding(strict, row(1, "20"), row(2, "20"), row(3, "20"), key=LAST))
    lake.load(adding(strict, row(2, "2"), row(3, "30"), key=LAST))

    replayed(lake, adding(contract(tmp_path, most=25), key=LAST))
    assert sold(lake) == [(1, 1, 20), (2, 1, 2), (3, 1, 20)]
    lake.load(adding(strict, row(3, "3"), key=LAST))

    # What stayed in quarantine is of the load that brought it, not of the replay that looked at it.
    replayed(lake, adding(contract(tmp_path, most=100), key=LAST))
    assert sold(lake) == [(1, 1, 20), (2, 1, 2), (3, 1, 3)]


def test_of_a_table_that_is_only_inserted_into_the_row_that_came_first_stays(
    lake: Lake, tmp_path: Path
) -> None:
    strict = contract(tmp_path)
    lake.load(adding(strict, row(1, "20"), row(2, "20"), key=LAST, strategy="insert_only"))
    lake.load(adding(strict, row(1, "30"), row(2, "2"), key=LAST, strategy="insert_only"))

    replayed(lake, adding(contract(tmp_path, most=100), key=LAST, strategy="insert_only"))

    assert sold(lake) == [(1, 1, 20), (2, 1, 2)]


def test_rows_without_their_key_stay(lake: Lake, tmp_path: Path) -> None:
    lake.load(adding(contract(tmp_path), row(1, "1"), {"version": 1, "price": "2"}, key=NEWEST))
    for _ in range(2):
        assert replayed(lake, adding(contract(tmp_path), key=NEWEST)).quarantined == {None: 1}
        assert aside(lake, "rule, column_name") == [("no_key", "id")]
    assert sold(lake) == [(1, 1, 1)]


def test_rows_of_a_load_that_the_table_does_not_hold_are_left_to_it(lake: Lake, tmp_path: Path) -> None:
    """Its source gives them again: they would count twice."""
    checks = "checks: [duplicate: {columns: [id]}]"
    batch = row(1, "1"), row(1, "1"), row(2, "20")
    with pytest.raises(LoadError, match="uniqueness_id"):
        lake.load(adding(contract(tmp_path, checks=checks), *batch))
    lake.load(adding(contract(tmp_path), row(5, "5")))

    assert replayed(lake, adding(contract(tmp_path, most=100))).extracted == {}
    assert sold(lake) == [(5, 1, 5)]
    assert aside(lake) == [("validity_price", "2")]
    assert [said.partition(",")[0] for said in left_out(lake)] == [
        "1 in quarantine are of loads that bronze.t does not hold"
    ]


def test_a_replay_that_is_refused_leaves_quarantine_as_it_was(lake: Lake, tmp_path: Path) -> None:
    lake.load(adding(contract(tmp_path), row(1, "1"), row(2, "20"), row(2, "20"), row(3, "300")))
    before = aside(lake, "rule, raw, load_id")

    checks = "checks: [duplicate: {columns: [id]}]"
    with pytest.raises(LoadError, match=r"bronze\.t: uniqueness_id is 1, but must be 0") as refused:
        replayed(lake, adding(contract(tmp_path, most=100, checks=checks)))
    assert any(check.refuses for check in refused.value.checks[None])

    assert aside(lake, "rule, raw, load_id") == before
    assert sold(lake) == [(1, 1, 1)]
    replayed(lake, adding(contract(tmp_path, most=100)))
    assert sold(lake) == [(1, 1, 1), (2, 1, 20), (2, 1, 20)]
    assert aside(lake) == [("validity_price", "3")]


def test_a_table_that_is_replaced_is_not_replayed_so(lake: Lake, tmp_path: Path) -> None:
    source = BronzeSource("t", contract(tmp_path), lambda _: iter(()), "python:t")
    with pytest.raises(LoadError, match=r"bronze\.t is written by replace: load it again from its source"):
        replayed(lake, source)


def left_out(lake: Lake) -> list[str]:
    quarantine = Quarantine(lake.catalog, "bronze.t", "0", "by-hand", 1)
    return [*Backlog(quarantine, lake.connection).left_out()]
