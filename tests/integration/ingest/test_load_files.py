"""Loading daily files: a bad day is named and keeps what it had, the others are loaded."""

import multiprocessing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from sources import D1, D2, D3, DAILY, Lake

from lakehouse.ingest.errors import LoadError
from lakehouse.ingest.load import load
from lakehouse.settings import Settings


@pytest.fixture
def three_days(lake: Lake) -> Lake:
    for number, day in enumerate((D1, D2, D3)):
        lake.write_day(day, f"{day},{number},first\n{day},NA,NA\n")
    lake.load(DAILY, [D1, D2, D3])
    return lake


def test_days_are_loaded_in_one_commit_with_where_they_came_from(three_days: Lake) -> None:
    assert three_days.snapshots("bronze.daily") == 1
    assert three_days.read("bronze.daily") == [
        (D1, 0, "first", "2013-01-01.csv"),
        (D1, None, None, "2013-01-01.csv"),
        (D2, 1, "first", "2013-01-02.csv"),
        (D2, None, None, "2013-01-02.csv"),
        (D3, 2, "first", "2013-01-03.csv"),
        (D3, None, None, "2013-01-03.csv"),
    ]
    loads = "count(_load_id), count(distinct _load_id), count(_loaded_at)"
    assert three_days.read("bronze.daily", loads) == [(6, 1, 6)]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (f"{D2},n/a,second\n", "2013-01-02.csv is not what was declared: line 2, column id"),
        (f"{D2},5,second\n{D3},6,stray\n", "not of 2013-01-02: 1, the first at line 3, column d: 2013-01-03"),
        ("NA,5,second\n", "1 rows have no d, the column that says"),
        (f"{D2},5\n", "line 2: Expected Number of Columns: 3"),
    ],
)
def test_a_bad_day_keeps_its_old_rows_and_the_others_are_loaded(
    three_days: Lake, lines: str, reason: str
) -> None:
    for day in (D1, D3):
        three_days.write_day(day, f"{day},7,second\n")
    three_days.write_day(D2, lines)
    report = three_days.load(DAILY, [D1, D2, D3])

    assert list(report.failures) == [D2]
    assert reason in report.failures[D2]
    assert report.result is not None
    assert report.result.partitions == {D1: 1, D3: 1}
    assert three_days.read("bronze.daily", "d, id, name") == [
        (D1, 7, "second"),
        (D2, 1, "first"),
        (D2, None, None),
        (D3, 7, "second"),
    ]


def test_after_a_failed_load_nothing_is_left_and_the_next_succeeds(three_days: Lake) -> None:
    three_days.write_day(D2, f"{D2},n/a,second\n")
    failed = three_days.load(DAILY, [D2])
    left = three_days.working_folders()
    three_days.write_day(D2, f"{D2},5,corrected\n")
    good = three_days.load(DAILY, [D2])

    assert (list(failed.failures), failed.result, left) == ([D2], None, [])
    assert good.failures == {}
    assert (D2, 5, "corrected") in three_days.read("bronze.daily", "d, id, name")
    assert three_days.working_folders() == []


def test_a_refused_file_is_logged_as_a_sentence(three_days: Lake, caplog: pytest.LogCaptureFixture) -> None:
    three_days.load(DAILY, [date(2013, 1, 9)])
    [record] = [record for record in caplog.records if record.name == "lakehouse.ingest.load"]
    assert "2013-01-09.csv does not exist" in record.getMessage()
    assert not record.exc_info


def test_a_day_without_a_file_is_named(three_days: Lake) -> None:
    report = three_days.load(DAILY, [date(2013, 1, 9), D1])

    assert "2013-01-09.csv does not exist" in report.failures[date(2013, 1, 9)]
    assert report.result is not None
    assert report.result.partitions == {D1: 2}


def test_a_day_that_may_be_empty_is_an_empty_partition(lake: Lake) -> None:
    may_be_empty = replace(DAILY, may_be_empty=True)
    lake.write_day(D1, "")
    first = lake.load(may_be_empty, [D1])
    lake.write_day(D2, f"{D2},1,a\n")
    lake.load(may_be_empty, [D2])
    lake.write_day(D2, "")
    emptied = lake.load(may_be_empty, [D1, D2])

    assert first.result is not None
    assert first.result.partitions == {D1: 0}
    assert emptied.result is not None
    assert emptied.result.partitions == {D1: 0, D2: 0}
    assert lake.read("bronze.daily") == []
    assert lake.columns("bronze.daily")[:3] == ["d", "id", "name"]


def test_a_day_without_rows_is_refused_unless_that_is_declared(three_days: Lake) -> None:
    three_days.write_day(D2, "")
    report = three_days.load(DAILY, [D2])

    assert "2013-01-02.csv has a header but no rows" in report.failures[D2]
    assert "may_be_empty=True" in report.failures[D2]
    assert (D2, 1, "first") in three_days.read("bronze.daily", "d, id, name")


def test_a_day_asked_for_twice_is_loaded_once(three_days: Lake) -> None:
    report = three_days.load(DAILY, [D1, D1])

    assert report.failures == {}
    assert len(three_days.read("bronze.daily")) == 6


def test_a_column_the_source_adds_is_null_in_older_rows(three_days: Lake) -> None:
    three_days.write_day(D2, f"{D2},5,new,007\n", header="d,id,name,gate\n")
    three_days.load(DAILY, [D2])

    assert three_days.read("bronze.daily", "d, id, gate") == [
        (D1, 0, None),
        (D1, None, None),
        (D2, 5, "007"),
        (D3, 2, None),
        (D3, None, None),
    ]


def test_whole_and_partitioned_loads_are_not_mixed_up(lake: Lake) -> None:
    with pytest.raises(LoadError, match=r"bronze\.daily is loaded by partition"):
        lake.load(DAILY)


def load_day(folder: Path, day: date) -> int:
    report = load(DAILY, Settings(data_dir=folder), [day])
    return report.result.rows if report.result else 0


def test_two_processes_load_different_days_of_a_new_table(tmp_path: Path, lake: Lake) -> None:
    lake.settings.source_dir.mkdir(parents=True)
    for day in (D1, D2):
        lake.write_day(day, f"{day},1,a\n{day},2,b\n")
    with multiprocessing.get_context("spawn").Pool(2) as processes:
        rows = processes.starmap(load_day, [(lake.settings.data_dir, day) for day in (D1, D2)], chunksize=1)

    assert rows == [2, 2]
    assert len(lake.read("bronze.daily")) == 4
    assert lake.working_folders() == []
