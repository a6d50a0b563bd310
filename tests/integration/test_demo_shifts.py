"""The contract of silver.flights on every day of 2013: as it was, and with something wrong in it."""

from pathlib import Path

import pytest

from demo.shifts import SHIFTS, Year, read_year, shares

DAYS_WITH_HISTORY = 337  # all but the first four weeks
MOST_FALSE_ALARMS = 0.05
CAUGHT = 0.95  # of the days, at least
NOT_PUBLISHED = (
    "distances in kilometres",
    "delays in seconds",
    "delays capped at an hour",
    "carrier UA renamed",
)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Year:
    return read_year(tmp_path_factory.mktemp("year"))


def test_days_as_they_were_pass(year: Year) -> None:
    judged = year.judged("from flights")

    assert len(judged) == DAYS_WITH_HISTORY
    not_passed, refused = shares(judged)
    assert not_passed <= MOST_FALSE_ALARMS
    assert refused == 0


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_shift_is_caught_on_whichever_day_it_comes(year: Year, shift: str) -> None:
    not_passed, refused = shares(year.judged(SHIFTS[shift]))

    assert not_passed >= CAUGHT
    assert refused >= (CAUGHT if shift in NOT_PUBLISHED else 0)


def test_the_documentation_has_these_figures(year: Year, docs: Path = Path("docs/distribution.md")) -> None:
    text = docs.read_text(encoding="utf-8")

    for shift, query in {"untouched": "from flights", **SHIFTS}.items():
        not_passed, refused = shares(year.judged(query))
        assert f"| {shift} | {not_passed:.1%} | {refused:.1%} |" in text
