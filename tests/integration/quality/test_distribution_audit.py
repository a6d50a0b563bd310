"""A partition is compared with those before it in time, and only with what was published."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from visits_lake import DAYS, DISTRIBUTION, KS, PSI, ROWS, VisitsLake, contract, visits, visits_lake

from lakehouse.quality.check_result import FAILED, NOT_EVALUATED, PASSED, WARNED
from lakehouse.quality.distribution.profile_table import NAME
from lakehouse.storage.errors import StorageError


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[VisitsLake]:
    with visits_lake(tmp_path) as made:
        yield made


def test_a_shift_is_not_published_and_nothing_is_compared_with_it(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])

    written, results = lake.write(visits(DAYS[4:5], shift=40), DAYS[4:5])

    assert [*written.failures] == [DAYS[4]]
    failed = results[DAYS[4]][KS]
    assert (failed.outcome, failed.measured, failed.blocks) == (FAILED, pytest.approx(0.8), True)
    assert "must be less than or equal 0.3" in failed.threshold
    assert failed.note == "minutes: 0.0% are 39 or less, of the baseline 80.0%"
    assert failed.metrics["baseline_partitions"] == 4
    assert DAYS[4] not in lake.profiled()


def test_a_small_shift_is_published_with_a_warning(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])

    written, results = lake.write(visits(DAYS[4:5], shift=8), DAYS[4:5])

    assert not written.failures
    assert results[DAYS[4]][KS].outcome == WARNED
    assert lake.profiled() == dict.fromkeys(DAYS[:5], 200)


def test_too_short_a_history_is_said(lake: VisitsLake) -> None:
    _, results = lake.write(visits(DAYS[:4]), DAYS[:4])

    notes = [results[day][KS].note for day in DAYS[:4]]
    assert notes == [*(f"not enough history: {count} of 3 partitions" for count in range(3)), ""]
    assert results[DAYS[2]][ROWS].outcome == PASSED
    assert results[DAYS[2]][ROWS].metrics == {"baseline_partitions": 2.0, "baseline_needed": 3.0}


def test_each_day_of_a_chunk_is_compared_with_those_before_it(lake: VisitsLake) -> None:
    steps = " union all ".join(visits([day], shift=10 * number) for number, day in enumerate(DAYS[:6]))

    written, results = lake.write(steps, DAYS[:6])

    assert results[DAYS[3]][KS].measured == pytest.approx(0.4)  # 20, 40 and 60 % in the mean
    assert results[DAYS[4]][KS].measured == pytest.approx(0.6)  # the fourth is refused, and no baseline
    assert {*written.failures} == {DAYS[3], DAYS[4], DAYS[5]}


def test_a_refused_day_of_a_chunk_is_no_baseline_for_the_next(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:5]), DAYS[:5])
    chunk = " union all ".join((visits(DAYS[5:6], shift=50), visits(DAYS[6:7])))

    written, results = lake.write(chunk, DAYS[5:7])

    assert [*written.failures] == [DAYS[5]]
    assert results[DAYS[6]][KS].measured == 0


def test_a_late_day_is_compared_with_the_days_before_it_and_not_with_those_loaded_before(
    lake: VisitsLake,
) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])
    # What came to be usual since: each step is small, and all together are not.
    for number in range(5, 20):
        lake.write(visits([DAYS[number]], shift=2 * (number - 4)), [DAYS[number]])

    written, results = lake.write(visits([DAYS[4]]), [DAYS[4]])

    assert (results[DAYS[4]][KS].measured, written.failures) == (0, {})


def test_the_same_partition_twice_has_one_profile(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:3]), DAYS[:3])
    lake.write(visits(DAYS[1:2], rows=100), DAYS[1:2])

    assert lake.profiled() == {DAYS[0]: 200, DAYS[1]: 100, DAYS[2]: 200}


def test_a_chunk_is_one_snapshot_of_the_profiles(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:31]), DAYS[:31])
    lake.write(visits(DAYS[31:33]), DAYS[31:33])

    assert len(lake.catalog.load_table(NAME).metadata.snapshots) == 2


def test_a_category_that_is_renamed_is_not_published(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])
    renamed = f"select * replace (replace(channel, 'web', 'Web') as channel) from ({visits(DAYS[4:5])})"

    written, results = lake.write(renamed, DAYS[4:5])

    assert [*written.failures] == [DAYS[4]]
    assert results[DAYS[4]][PSI].note == "channel: 50.0% are Web, of the baseline 0.0%"


def test_a_profile_of_rows_that_are_no_more_there_says_nothing(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])
    for day in DAYS[:4]:  # as a process leaves it that dies between the commit and the profiles
        lake_rows = visits([day], rows=150)
        _publish_without_profile(lake, lake_rows, day)

    _, results = lake.write(visits(DAYS[4:5]), DAYS[4:5])
    assert results[DAYS[4]][KS].note == "not enough history: 0 of 3 partitions"

    lake.recheck()
    _, results = lake.write(visits(DAYS[5:6]), DAYS[5:6])
    assert results[DAYS[5]][KS].metrics["baseline_partitions"] == 5


def _publish_without_profile(lake: VisitsLake, sql: str, day: object) -> None:
    from visits_lake import SPEC, Rows

    from lakehouse.storage import write

    write.overwrite_partitions(lake.catalog, SPEC, Rows(lake.connection, sql), [day])  # type: ignore[list-item]


def test_a_recheck_profiles_what_is_there_and_judges_each_day_by_those_before(lake: VisitsLake) -> None:
    for number, day in enumerate(DAYS[:5]):
        _publish_without_profile(lake, visits([day], shift=30 * (number == 4)), day)

    results = lake.recheck()

    assert results[DAYS[2]][KS].note.startswith("not enough history: 2")
    assert (results[DAYS[3]][KS].outcome, results[DAYS[4]][KS].outcome) == (PASSED, FAILED)
    assert lake.profiled() == dict.fromkeys(DAYS[:5], 200)  # all are published, whatever is said of them
    snapshot = lake.catalog.load_table(NAME).metadata.current_snapshot_id
    assert lake.recheck([DAYS[4]])[DAYS[4]][KS].outcome == FAILED
    assert lake.catalog.load_table(NAME).metadata.current_snapshot_id == snapshot  # nothing is new


def test_a_table_that_is_replaced_is_compared_with_itself(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:6]), DAYS[:6])

    results = lake.replace(visits(DAYS[2:7], shift=100))

    assert results[DAYS[4]][KS].note.startswith("not enough history: 2")
    assert (results[DAYS[6]][KS].outcome, results[DAYS[6]][KS].measured) == (PASSED, 0)
    assert [*lake.profiled()] == DAYS[2:7]


def test_a_season_compares_with_days_of_the_same_weekday(tmp_path: Path) -> None:
    weekly = {**DISTRIBUTION, "season": "weekday", "baseline": 4, "enough": 2}
    busy = [day for day in DAYS if day.weekday() == 6]
    quiet = [day for day in DAYS if day.weekday() != 6]
    with visits_lake(tmp_path, contract(weekly)) as lake:
        rows = " union all ".join((visits(busy, rows=800, shift=20), visits(quiet)))

        written, results = lake.write(rows, DAYS)

    assert not written.failures
    assert {results[day][KS].outcome for day in DAYS} == {PASSED}
    assert results[busy[1]][KS].note == "not enough history: 1 of 2 partitions of the same weekday"
    assert results[busy[-1]][ROWS].metrics["baseline_median"] == 800


def test_a_column_without_any_value_fails(lake: VisitsLake) -> None:
    lake.write(visits(DAYS[:4]), DAYS[:4])
    nothing = f"select * replace (null::integer as minutes) from ({visits(DAYS[4:5])})"

    _, results = lake.write(nothing, DAYS[4:5])

    assert (results[DAYS[4]][KS].outcome, results[DAYS[4]][KS].note) == (
        FAILED,
        "no row has a value of minutes",
    )


def test_an_empty_day_that_may_be_is_not_compared(tmp_path: Path) -> None:
    gates = {"row_count_change_percent": None, "may_be_empty": True}
    with visits_lake(tmp_path, contract(DISTRIBUTION, gates=gates)) as lake:
        lake.write(visits(DAYS[:4]), DAYS[:4])

        written, results = lake.write(visits(DAYS[4:5]) + " limit 0", DAYS[4:5])

        assert not written.failures
        assert results[DAYS[4]][KS].note == "no rows, which the contract allows"
        assert [*lake.profiled()] == DAYS[:4]


def test_a_column_that_cannot_be_read_as_numbers_is_not_evaluated(lake: VisitsLake) -> None:
    texts = f"select * replace ('many' as minutes) from ({visits(DAYS[:1])})"

    written, results = lake.write(texts, DAYS[:1])

    assert results[DAYS[0]][KS].outcome == NOT_EVALUATED
    assert "the rows cannot be compared" in written.failures[DAYS[0]]


def test_rows_that_were_published_stay_so_if_their_profiles_are_not_kept(
    lake: VisitsLake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr("lakehouse.quality.distribution.profile_table.replace_rows", refuse)

    written, _ = lake.write(visits(DAYS[:2]), DAYS[:2])

    assert (written.rows, written.failures) == (400, {})
    assert re.search(r"profiles of silver.visits were not kept.*lakehouse profile silver.visits", caplog.text)
