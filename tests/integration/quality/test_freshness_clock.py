"""What data's age is counted to: a partition's end by the table's clock, or now."""

from datetime import date
from pathlib import Path

import duckdb
import pytest
import yaml
from orders_lake import Rows
from pyiceberg.catalog import Catalog

from lakehouse.clock import Grain
from lakehouse.quality.contract import read_contract
from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.errors import StorageError
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import describe
from lakehouse.transform.model_audit import ModelAudit, private_connection

MARCH = date(2024, 3, 1)


class Rates:
    """A table `silver.rates` of which the newest row was made at some time."""

    def __init__(self, folder: Path, catalog: Catalog, connection: duckdb.DuckDBPyConnection) -> None:
        self.file, self.catalog, self.connection = folder / "rates.yml", catalog, connection

    def publish(
        self, at: str, kind: str, timezone: str, hours: int, today: date, grain: Grain | None = None
    ) -> bool:
        """Whether a contract that wants data of so many hours lets it be published."""
        threshold = {"unit": "hour", "must_be_between": {"greater_than_or_equal": 0, "less_than": hours}}
        said = {
            "dataset": "lakehouse/silver/rates",
            "version": "1.0.0",
            "owner": "team:x",
            "tier": 3,
            "timezone": timezone,
            "columns": [{"name": "month", "data_type": "date"}, {"name": "made_at", "data_type": kind}],
            "checks": [{"freshness": {"column": "made_at", "threshold": threshold}}],
        }
        self.file.write_text(yaml.safe_dump(said))
        sql = f"select date '{MARCH}' as month, {kind} '{at}' as made_at"
        spec = TableSpec("silver.rates", partition_by="month" if grain else None)
        with private_connection(self.connection) as private:
            audit = ModelAudit(
                read_contract(self.file, "silver.rates"),
                private,
                self.catalog,
                Settings(data_dir=self.file.parent, today=today),
                "by-hand",
                spec,
                grain or "day",
                describe(self.connection, sql),
                merges=False,
            )
            rows = Rows(self.connection, sql)
            if grain:
                audit.begin([MARCH])
                written = write.overwrite_partitions(self.catalog, spec, rows, [MARCH], audit=audit.of_files)
                return not written.failures
            try:
                write.replace(self.catalog, spec, rows, audit=audit.of_files)
            except StorageError as refusal:
                assert "freshness_made_at" in str(refusal)
                return False
            return True


@pytest.fixture
def rates(tmp_path: Path, catalog: Catalog, connection: duckdb.DuckDBPyConnection) -> Rates:
    return Rates(tmp_path, catalog, connection)


@pytest.mark.parametrize("timezone", ["Asia/Tokyo", "UTC", "America/New_York"])
def test_a_time_without_a_zone_is_of_the_tables_clock(rates: Rates, timezone: str) -> None:
    today = date(2024, 3, 9)
    assert rates.publish("2024-03-08 22:30", "timestamp", timezone, 2, today)
    assert not rates.publish("2024-03-08 21:30", "timestamp", timezone, 2, today)
    assert not rates.publish("2024-03-09 00:30", "timestamp", timezone, 2, today)


@pytest.mark.parametrize("timezone", ["Asia/Tokyo", "UTC", "America/New_York"])
def test_a_day_begins_at_the_tables_midnight(rates: Rates, timezone: str) -> None:
    assert rates.publish("2024-03-08", "date", timezone, 25, date(2024, 3, 9))
    assert not rates.publish("2024-03-07", "date", timezone, 25, date(2024, 3, 9))


def test_a_time_with_a_zone_is_an_instant(rates: Rates) -> None:
    assert rates.publish("2024-03-08 14:30:00+00", "timestamptz", "Asia/Tokyo", 1, date(2024, 3, 9))
    assert not rates.publish("2024-03-08 13:30:00+00", "timestamptz", "Asia/Tokyo", 1, date(2024, 3, 9))


def test_a_table_that_no_one_updates_becomes_stale(rates: Rates) -> None:
    assert rates.publish("2024-03-08 12:00", "timestamp", "UTC", 48, date(2024, 3, 10))
    assert not rates.publish("2024-03-08 12:00", "timestamp", "UTC", 48, date(2024, 3, 11))


def test_a_backfill_long_after_is_judged_as_of_the_partitions_end(rates: Rates) -> None:
    long_after = date(2026, 1, 1)
    assert rates.publish("2024-03-31 12:00", "timestamp", "UTC", 24, long_after, "month")
    assert not rates.publish("2024-03-30 12:00", "timestamp", "UTC", 24, long_after, "month")


def test_a_partition_that_has_not_ended_is_judged_as_of_now(rates: Rates) -> None:
    assert rates.publish("2024-03-14 12:00", "timestamp", "UTC", 24, date(2024, 3, 15), "month")
    assert not rates.publish("2024-03-13 12:00", "timestamp", "UTC", 24, date(2024, 3, 15), "month")
    assert not rates.publish("2024-03-31 12:00", "timestamp", "UTC", 24, date(2024, 3, 15), "month")
