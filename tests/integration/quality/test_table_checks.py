"""What is judged of a table as a whole: gaps, what is due by now, and when it was last loaded."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from orders_lake import Rows
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.quality.check_result import CheckResult
from lakehouse.quality.contract import Contract, contract_from
from lakehouse.quality.table_checks import DUE, GAPS, LAST_LOAD, Calendar, judge_table, table_checks
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec, load_table

SPEC = TableSpec("silver.rates", partition_by="day")
DAYS = [date(2024, 3, 1) + timedelta(days=number) for number in range(10)]
# Tokyo's midnight after the tenth of March.
AFTER_THE_LAST = datetime(2024, 3, 10, 15, tzinfo=UTC)


def contract(**said: Any) -> Contract:
    written = {
        "dataset": "lakehouse/silver/rates",
        "version": "1.0.0",
        "owner": "team:x",
        "tier": 3,
        "timezone": "Asia/Tokyo",
        "columns": [{"name": "day", "data_type": "date"}],
        **said,
    }
    return contract_from(written, "silver.rates", Path("rates.yml"))


class Lake:
    """The table, and what its checks say."""

    def __init__(self, settings: Settings) -> None:
        self.catalog: Catalog = open_catalog(settings)
        self.settings = settings

    def publish(self, *days: date) -> None:
        with closing(duckdb_session.connect(self.settings)) as connection:
            rows = Rows(connection, " union all ".join(f"select date '{day}' as day" for day in days))
            write.overwrite_partitions(self.catalog, SPEC, rows, list(days), {})

    def judge(
        self, said: Contract, hours_later: float = 0, now: datetime | None = None
    ) -> dict[str, CheckResult]:
        moment = now or AFTER_THE_LAST + timedelta(hours=hours_later)
        ended = Calendar("day", DAYS)
        return judge_table(said, load_table(self.catalog, "silver.rates"), ended, moment)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    yield Lake(Settings(data_dir=tmp_path))


def test_a_day_that_is_missing_between_others_is_named(lake: Lake) -> None:
    lake.publish(*DAYS[:3], *DAYS[5:8])

    result = lake.judge(contract())[GAPS]

    assert not result.good
    assert result.measured == 2
    assert "2024-03-04, 2024-03-05" in result.note

    lake.publish(*DAYS[3:5])
    assert lake.judge(contract())[GAPS].good


def test_what_is_due_is_late_after_its_hours_and_not_before(lake: Lake) -> None:
    lake.publish(*DAYS[:9])
    said = contract(freshness={"due_within_hours": 6})

    assert lake.judge(said, hours_later=6)[DUE].good
    late = lake.judge(said, hours_later=6.5)[DUE]

    assert not late.good
    assert late.measured == pytest.approx(6.5)
    assert "2024-03-10 should be there" in late.note


def test_an_old_day_built_again_makes_nothing_green(lake: Lake) -> None:
    lake.publish(*DAYS[:9])
    said = contract(freshness={"due_within_hours": 6})
    assert not lake.judge(said, hours_later=7)[DUE].good

    lake.publish(DAYS[0])
    assert not lake.judge(said, hours_later=7)[DUE].good

    lake.publish(DAYS[9])
    assert lake.judge(said, hours_later=7)[DUE].good


def test_a_load_ages(lake: Lake) -> None:
    lake.publish(DAYS[0])
    said = contract(freshness={"loaded_within_hours": 24})
    now = datetime.now(UTC)

    assert lake.judge(said, now=now + timedelta(hours=23))[LAST_LOAD].good
    old = lake.judge(said, now=now + timedelta(hours=25))[LAST_LOAD]

    assert not old.good
    assert "the last load was 25.0 hours ago" in old.note


def test_of_a_table_that_is_not_there_nothing_is_good(lake: Lake) -> None:
    said = contract(freshness={"due_within_hours": 6, "loaded_within_hours": 24})

    results = lake.judge(said)

    assert {name: result.good for name, result in results.items()} == dict.fromkeys(
        (GAPS, DUE, LAST_LOAD), False
    )
    assert {result.note for result in results.values()} == {"silver.rates was never built"}


def test_what_may_be_empty_may_have_gaps() -> None:
    assert GAPS not in table_checks(contract(gates={"may_be_empty": True}), partitioned=True)
    assert not table_checks(contract(freshness={"due_within_hours": 6}), partitioned=False)
