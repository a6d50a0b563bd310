"""Every day of 2013 against the days before it, as it was and with something wrong in it.

What is judged is the distribution part of the contract of silver.flights, whose columns are as the
source gives them.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from demo.data import data_folder
from lakehouse.quality.check_result import CheckResult
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.distribution.judge import judge_distribution
from lakehouse.quality.distribution.profile import PartitionProfile
from lakehouse.quality.distribution.profiling import profile
from lakehouse.settings import Settings
from lakehouse.storage.sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

A_THIRD = "hash(carrier, flight, sched_dep_time) % 3 = 0"


def _changed(column: str, value: str) -> str:
    return f"select * replace ({value} as {column}) from flights"


def _renamed(carrier: str) -> str:
    return _changed("carrier", f"if(carrier = '{carrier}', '{carrier}-NEW', carrier)")


def _a_third_missing(airport: str) -> str:
    return f"select * from flights where not (origin = '{airport}' and {A_THIRD})"


SHIFTS: Mapping[str, str] = {
    "distances in kilometres": _changed("distance", "distance * 1.609344"),
    "delays in seconds": _changed("dep_delay", "dep_delay * 60"),
    "delays capped at an hour": _changed("dep_delay", "least(dep_delay, 60)"),
    "early departures as no delay": _changed("dep_delay", "greatest(dep_delay, 0)"),
    **{f"a third of {airport} missing": _a_third_missing(airport) for airport in ("EWR", "JFK", "LGA")},
    **{f"carrier {carrier} renamed": _renamed(carrier) for carrier in ("UA", "MQ", "VX")},
}


@dataclass(frozen=True)
class Year:
    """The flights of 2013 as they were, profiled.

    Args:
        connection: has them as `flights`, with `flight_date`.
    """

    connection: "DuckDBPyConnection"
    contract: Contract
    profiles: Mapping[date, PartitionProfile]

    def judged(self, query: str) -> dict[date, list[CheckResult]]:
        """Each day as a query gives it, against the days before it as they were.

        Days without enough history are left out.
        """
        declared = self.contract.distribution
        assert declared is not None
        found = {}
        for day, now in profile(self.connection, query, "flight_date", declared.columns).items():
            results = judge_distribution(declared, now, self.profiles)
            if not any("not enough history" in result.note for result in results):
                found[day] = results
        return found


def read_year(folder: Path, table: str = "silver.flights") -> Year:
    """Read the year and profile it as it was."""
    import duckdb

    connection = duckdb.connect()
    with zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive:
        file = archive.extract("flights.csv", folder)
    connection.execute(
        "create table flights as select make_date(year, month, day) as flight_date, *"
        f" from read_csv({literal(file)}, nullstr = 'NA')"
    )
    contract = read_contract(Settings().contracts_dir.joinpath(*table.split(".")).with_suffix(".yml"), table)
    assert contract.distribution is not None
    profiles = profile(connection, "from flights", "flight_date", contract.distribution.columns)
    return Year(connection, contract, profiles)


def shares(judged: Mapping[date, list[CheckResult]]) -> tuple[float, float]:
    """The shares of days that did not pass, and of those that would not be published."""
    bad = [any(not result.good for result in results) for results in judged.values()]
    refused = [any(result.refuses for result in results) for results in judged.values()]
    return sum(bad) / len(judged), sum(refused) / len(judged)
