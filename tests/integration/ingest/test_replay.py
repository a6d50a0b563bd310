"""Rows in quarantine of sources that add to their table are loaded again, each once."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from replay_sources import LAST, NEWEST, adding, aside, contract, replayed, row, sold
from sources import D1, Lake

from lakehouse.ingest.columns import DeclaredColumns
from lakehouse.ingest.csv_files import read_csv
from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.source import BronzeSource, Extraction
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


def test_neither_many_bad_rows_nor_old_ones_keep_the_others_out(lake: Lake, tmp_path: Path) -> None:
    old = datetime(2013, 1, 1, tzinfo=UTC)
    lake.load(adding(contract(tmp_path), row(1, "20", sold_at=old), row(2, "200", sold_at=old)))
    fresh = "checks: [freshness: {column: sold_at, threshold: {unit: hour, must_be_less_than: 6}}]"

    report = replayed(lake, adding(contract(tmp_path, most=100, good=95, checks=fresh)))

    [judged] = [check for check in report.checks[None] if check.check == "freshness_sold_at"]
    assert judged.outcome == "failed"
    assert sold(lake) == [(1, 1, 20)]


def test_a_value_that_fits_a_wider_type_is_loaded_as_of_the_load_that_brought_it(
    lake: Lake, tmp_path: Path
) -> None:
    narrow = contract(tmp_path, most=10**10, mode="discard_row")
    lake.load(adding(narrow, row(1, "1234567890.10"), row(2, "1234567890.20"), row(3, "3"), key=LAST))
    lake.load(adding(narrow, row(2, "2"), key=LAST))
    for _ in range(2):  # newer than that load, which the rows are not
        assert replayed(lake, adding(narrow, key=LAST)).quarantined == {None: 2}
        assert sorted(aside(lake, "rule, source_row")) == [("type", 1), ("type", 2)]

    replayed(lake, adding(contract(tmp_path, most=10**10, price="decimal(12, 2)"), key=LAST))

    assert sold(lake) == [(1, 1, 1234567890.1), (2, 1, 2), (3, 1, 3)]
    assert aside(lake) == []


def test_a_row_of_a_file_that_lacks_what_is_computed_stays(lake: Lake, tmp_path: Path) -> None:
    def source(declared: DeclaredColumns) -> BronzeSource:
        def extract(extraction: Extraction) -> Iterator[Any]:
            file = extraction.settings.source_dir / "2013-01-01.csv"
            yield from read_csv(extraction, file, computed={"version": "id * 10"})

        return BronzeSource("t", declared, extract, "*.csv", write_disposition="append")

    lake.write_day(D1, "1,1\n2,20\n3,x\n", header="id,price\n")
    lake.load(source(contract(tmp_path, mode="discard_row")))

    for _ in range(2):
        replayed(lake, source(contract(tmp_path, most=100, mode="discard_row")))
        assert sold(lake) == [(1, 10, 1), (2, 20, 20)]
        assert aside(lake, "rule, column_name, source_file") == [("no_column", "version", "2013-01-01.csv")]


def left_out(lake: Lake) -> list[str]:
    quarantine = Quarantine(lake.catalog, "bronze.t", "0", "by-hand", 1)
    return [*Backlog(quarantine, lake.connection).left_out()]
