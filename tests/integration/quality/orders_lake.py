"""A lake with a week of orders, and faults to put into the next day of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.quality.check_result import CheckResult
from lakehouse.quality.contract import read_contract
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, scan, write
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import describe
from lakehouse.transform.model_audit import ModelAudit, private_connection

CONTRACT = read_contract(Path(__file__).with_name("orders.yml"), "silver.orders")
SPEC = TableSpec("silver.orders", partition_by="order_date")
WEEK = [date(2024, 3, number) for number in range(1, 9)]
DAY = date(2024, 3, 9)

GOOD = """
    select
        date '{day}' as order_date,
        100000 + day_number * 100 + i // 2 as order_id,
        (i % 2 + 1)::integer as line,
        i as n,
        format('INV-{day}-{{:02d}}', i) as invoice,
        format('user{{}}@example.com', i) as email,
        ['paid', 'open', 'paid', 'cancelled'][i % 4 + 1] as status,
        ['web', 'shop', 'web'][i % 3 + 1] as channel,
        ['JP', 'DE', 'FR'][i % 3 + 1] as country,
        format('SKU{{:03d}}', i) as sku,
        (i % 5 + 1)::integer as quantity,
        (10 + i % 7)::double as price,
        ((10 + i % 7) * (i % 5 + 1))::decimal(12, 2) as total,
        case when i % 2 = 0 then format('V{{:02d}}', i) end as voucher,
        placed_at,
        case when i < 47 then placed_at + interval 5 minute end as shipped_at,
        timezone('Asia/Tokyo', placed_at) as packed_at,
        date '{day}' as stock_on,
        {{'street': format('Street {{}}', i // 2), 'zip': format('{{:05d}}', i)}} as address
    from (
        select
            i,
            date '{day}' - date '2024-01-01' as day_number,
            timezone('Asia/Tokyo', timestamp '{day} 00:50' + interval (i // 2) hour) as placed_at
        from range(48) as numbers(i)
    )
"""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with the rows of a day.

    Args:
        sql: of the rows with the fault; `good` is the table without it.
        check: that must fail, whatever else does.
        quarantined: rows that are set aside, the others being published; 0: nothing is published.
    """

    what: str
    sql: str
    check: str
    quarantined: int = 0


def change(what: str, check: str, column: str, value: str, rows: str = "true", **more: Any) -> Fault:
    """Another value of a column in some rows."""
    changed = f"case when {rows} then {value} else {column} end as {column}"
    return Fault(what, f"select * replace ({changed}) from good", check, **more)


def only(what: str, check: str, rows: str, **more: Any) -> Fault:
    """Some rows are there, the others are not."""
    return Fault(what, f"select * from good where {rows}", check, **more)


def added(what: str, check: str, select: str, **more: Any) -> Fault:
    """More rows."""
    return Fault(what, f"select * from good union all {select}", check, **more)


@dataclass
class OrdersLake:
    """The table `silver.orders`, written as dbt's materialization writes a model."""

    settings: Settings
    catalog: Catalog
    connection: duckdb.DuckDBPyConnection

    def write(self, sql: str, days: list[date]) -> tuple[write.WriteResult, dict[str, CheckResult]]:
        """Publish these rows if the contract lets them; what was written, and the last day's checks."""
        with private_connection(self.connection) as private:
            types = describe(self.connection, sql)
            audit = ModelAudit(
                CONTRACT, private, self.catalog, self.settings, "by-hand", SPEC, "day", types, merges=False
            )
            audit.begin(days)
            rows = Rows(self.connection, sql)
            written = write.overwrite_partitions(
                self.catalog, SPEC, rows, days, audit=audit.of_files, sift=audit.sift
            )
            audit.settle(written)
            return written, {result.check: result for result in audit.contract.results[days[-1]]}

    @property
    def snapshot(self) -> int | None:
        return self.catalog.load_table("silver.orders").metadata.current_snapshot_id

    @property
    def columns(self) -> list[str]:
        return [field.name for field in self.catalog.load_table("silver.orders").schema().fields]

    def read(self, sql: str) -> list[tuple[Any, ...]]:
        for name in scan.list_tables(self.catalog):
            scan.pin_current(self.connection, self.catalog.load_table(name))
        return self.connection.execute(sql).fetchall()


@dataclass(frozen=True)
class Rows:
    connection: duckdb.DuckDBPyConnection
    sql: str

    def query(self, _: object) -> str:
        return self.sql


@contextmanager
def lake_with_a_good_week(folder: Path) -> Iterator[OrdersLake]:
    """The week is published, and `good` holds good rows of the day after."""
    settings = Settings(data_dir=folder / "the user's data")
    catalog, connection = open_catalog(settings), duckdb_session.connect(settings)
    lake = OrdersLake(settings, catalog, connection)
    countries = Rows(connection, "select unnest(['JP', 'DE', 'FR', 'IT']) as code")
    write.replace(catalog, TableSpec("silver.countries"), countries)
    week = " union all ".join(GOOD.format(day=day) for day in WEEK)
    written, _ = lake.write(week, WEEK)
    assert not written.failures
    connection.execute(f"create table good as {GOOD.format(day=DAY)}")
    connection.execute(f"create table day_before as {GOOD.format(day=DAY - timedelta(1))}")
    yield lake
    connection.close()
