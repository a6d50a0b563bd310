"""Which days a calendar has when the clock is held still, or only a sample is wanted."""

from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from lakehouse.clock import days_there_are, months_of
from lakehouse.settings import Settings

FIRST, END = date(2013, 1, 1), date(2014, 1, 1)
MARCH = date(2013, 3, 15)
WEEK = timedelta(days=7)


@pytest.mark.parametrize(
    ("today", "sample", "days"),
    [
        (None, None, (FIRST, END)),
        (MARCH, None, (FIRST, MARCH)),
        (date(2026, 1, 1), None, (FIRST, END)),
        (None, WEEK, (date(2013, 12, 25), END)),
        (MARCH, WEEK, (date(2013, 3, 8), MARCH)),
        (date(2013, 1, 3), WEEK, (FIRST, date(2013, 1, 3))),
    ],
)
def test_the_days_are_those_that_have_passed_and_of_them_the_last(
    today: date | None, sample: timedelta | None, days: tuple[date, date]
) -> None:
    assert days_there_are(FIRST, END, Settings(today=today, sample=sample)) == days


def test_a_calendar_without_an_end_ends_where_the_clock_is_held() -> None:
    assert days_there_are(FIRST, None, Settings()) == (FIRST, None)
    assert days_there_are(FIRST, None, Settings(today=MARCH)) == (FIRST, MARCH)


def test_a_day_before_the_data_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="LAKEHOUSE_TODAY is 2013-01-01, but the first day of the data is"):
        days_there_are(FIRST, END, Settings(today=FIRST))


@pytest.mark.parametrize(
    ("days", "months"),
    [
        ((FIRST, END), (FIRST, END)),
        ((date(2013, 3, 8), MARCH), (date(2013, 3, 1), date(2013, 4, 1))),
        ((date(2013, 1, 31), date(2013, 2, 2)), (FIRST, date(2013, 3, 1))),
        ((date(2013, 1, 31), date(2013, 2, 1)), (FIRST, date(2013, 2, 1))),
        ((date(2013, 12, 31), END), (date(2013, 12, 1), END)),
    ],
)
def test_the_months_are_those_of_the_days(days: tuple[date, date], months: tuple[date, date]) -> None:
    assert months_of(*days) == months


@pytest.mark.parametrize("sample", ["week", "0d", "-7d", "36 hours", "12h", "7"])
def test_a_sample_is_a_number_of_days(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_SAMPLE", sample)
    with pytest.raises(ValidationError, match="a sample is a number of days, 7d for instance"):
        Settings()


def test_a_sample_is_written_as_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_SAMPLE", "7d")
    assert Settings().sample == WEEK
