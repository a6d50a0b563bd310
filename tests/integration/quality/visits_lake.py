"""A lake with one table of visits by day, whose contract compares each day with those before."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import duckdb
from pyiceberg.catalog import Catalog

from lakehouse.catalog import open_catalog
from lakehouse.quality.check_result import CheckResult, Results
from lakehouse.quality.contract import Contract, contract_from
from lakehouse.quality.distribution.profile_table import ProfileTable
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec
from lakehouse.storage.types import describe
from lakehouse.transform.model_audit import ModelAudit, judge_published, private_connection

TABLE = "silver.visits"
SPEC = TableSpec(TABLE, partition_by="day")
DAYS = [date(2024, 3, 1) + timedelta(number) for number in range(40)]
VISITS = """
    select
        date '{day}' as day,
        (i % 50 + {shift})::integer as minutes,
        ['web', 'web', 'shop', 'phone'][i % 4 + 1] as channel
    from range({rows}) as numbers(i)
"""
DISTRIBUTION = {
    "baseline": 5,
    "enough": 3,
    "row_count": {"fail": 10},
    "columns": {"minutes": {"ks": {"warn": 0.1, "fail": 0.3}}, "channel": {"psi": {"fail": 0.1}}},
}
KS, PSI, ROWS = "distribution_minutes_ks", "distribution_channel_psi", "distribution_row_count"


def contract(distribution: dict[str, object], **more: object) -> Contract:
    """The contract of the visits."""
    said = {
        "dataset": "lakehouse/silver/visits",
        "version": "1.0.0",
        "owner": "team:tests",
        "tier": 3,
        "gates": {"row_count_change_percent": None},
        "columns": [
            {"name": "day", "data_type": "date"},
            {"name": "minutes", "data_type": "integer"},
            {"name": "channel", "data_type": "varchar"},
        ],
        "distribution": distribution,
    }
    return contract_from(said | more, TABLE, Path("visits.yml"))


def visits(days: Sequence[date], shift: int = 0, rows: int = 200) -> str:
    """SQL of the visits of some days, each longer by a shift."""
    return " union all ".join(VISITS.format(day=day, shift=shift, rows=rows) for day in days)


@dataclass
class VisitsLake:
    """The table, written as dbt's materialization writes a model."""

    settings: Settings
    catalog: Catalog
    connection: duckdb.DuckDBPyConnection
    contract: Contract

    def write(
        self, sql: str, days: Sequence[date]
    ) -> tuple[write.WriteResult, dict[date, dict[str, CheckResult]]]:
        """Publish what the contract lets; what was written, and each day's checks."""
        with private_connection(self.connection) as private:
            audit = self._audit(private, sql)
            audit.begin(list(days))
            rows = Rows(self.connection, sql)
            written = write.overwrite_partitions(
                self.catalog, SPEC, rows, days, audit=audit.of_files, sift=audit.sift
            )
            audit.settle(written)
            return written, by_name(audit.contract.results)

    def replace(self, sql: str) -> dict[date, dict[str, CheckResult]]:
        """Publish these rows as all that the table has."""
        with private_connection(self.connection) as private:
            audit = self._audit(private, sql)
            rows = Rows(self.connection, sql)
            audit.settle(write.replace(self.catalog, SPEC, rows, audit=audit.of_files, sift=audit.sift))
            return by_name(audit.contract.results)

    def recheck(self, days: Sequence[date] | None = None) -> dict[date, dict[str, CheckResult]]:
        """Judge what is published."""
        return by_name(judge_published(self.contract, self.settings, "by-hand", "day", "day", days))

    def profiled(self) -> dict[date, int]:
        """The rows of each day that there is a profile of."""
        table = ProfileTable(self.catalog, TABLE, 100)
        return {day: profile.rows for day, profile in table.read(self.connection).items()}

    def _audit(self, private: duckdb.DuckDBPyConnection, sql: str) -> ModelAudit:
        types = describe(self.connection, sql)
        return ModelAudit(
            self.contract, private, self.catalog, self.settings, "by-hand", SPEC, "day", types, merges=False
        )


@dataclass(frozen=True)
class Rows:
    connection: duckdb.DuckDBPyConnection
    sql: str

    def query(self, partitions: Sequence[date] | None) -> str:
        days = ", ".join(f"date '{day}'" for day in partitions or ())
        return f"select * from ({self.sql}) {f'where day in ({days})' if days else ''}"


def by_name(results: Results) -> dict[date, dict[str, CheckResult]]:
    return {day: {result.check: result for result in judged} for day, judged in results.items() if day}


@contextmanager
def visits_lake(folder: Path, declared: Contract | None = None) -> Iterator[VisitsLake]:
    """A lake without any visits yet."""
    settings = Settings(data_dir=folder / "data")
    connection = duckdb_session.connect(settings)
    yield VisitsLake(settings, open_catalog(settings), connection, declared or contract(DISTRIBUTION))
    connection.close()
