"""What `make demo` says at its end. Every number is queried from the tables that were just built."""

from collections import Counter
from typing import TYPE_CHECKING

import dagster as dg
from dagster import AssetCheckSeverity, DagsterEventType

from demo.progress import say
from lakehouse.catalog import open_catalog
from lakehouse.storage import duckdb_session, scan
from lakehouse.storage.sql import qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from lakehouse.settings import Settings

LAYERS = ("bronze", "silver", "gold")

FINDINGS = {
    "The worst day to leave New York": """
        select strftime(flight_date, '%A, %-d %B %Y') as day,
            round(sum(total_dep_delay) / sum(flown)) as delay,
            sum(cancelled) as cancelled
        from gold.daily_airport_performance
        group by flight_date
        order by sum(total_dep_delay) / sum(flown) desc
        limit 1
    """,
    "The most punctual of the three airports": """
        select origin, round(100.0 * sum(on_time) / sum(flights), 1) as share
        from gold.daily_airport_performance
        group by origin
        order by share desc
        limit 1
    """,
    "The carrier with the longest delays, of those with 1,000 flights or more": """
        select carrier, round(sum(total_dep_delay) / sum(flown), 1) as delay, sum(flights) as flights
        from gold.monthly_carrier_performance
        group by carrier
        having sum(flights) >= 1000
        order by delay desc
        limit 1
    """,
    "What weather costs": """
        select
            sum(total_dep_delay) filter (visibility = 'very poor')
                / sum(flown) filter (visibility = 'very poor') as very_poor,
            sum(total_dep_delay) filter (visibility = 'good')
                / sum(flown) filter (visibility = 'good') as good
        from gold.daily_delay_by_weather
    """,
    "The least reliable route, of those with 1,000 flights or more": """
        select
            origin,
            coalesce(any_value(dest_name), dest) as destination,
            round(100.0 * sum(on_time) / sum(flights), 1) as share,
            sum(flights) as flights
        from gold.monthly_route_reliability
        group by origin, dest
        having sum(flights) >= 1000
        order by share
        limit 1
    """,
    "Whether older planes are later": """
        select
            sum(total_dep_delay) filter (age_band = 'under 5')
                / sum(flown) filter (age_band = 'under 5') as young,
            sum(total_dep_delay) filter (age_band = '25 or more')
                / sum(flown) filter (age_band = '25 or more') as old
        from gold.monthly_fleet_age_and_delay
    """,
}
SENTENCES = (
    "{0}: {1:.0f} minutes of delay on average, {2} flights cancelled",
    "{0}: {1} % of its flights arrived less than 15 minutes late",
    "{0}: {1} minutes on average over {2:,} flights",
    "{0:.1f} minutes of delay on average with less than a mile of visibility, {1:.1f} with more than five",
    "{0} to {1}: {2} % of {3:,} flights arrived less than 15 minutes late",
    "Planes under 5 years leave {0:.1f} minutes late on average, those of 25 and more {1:.1f}",
)


def summarize(
    settings: "Settings", defs: dg.Definitions, instance: dg.DagsterInstance, seconds: float | None
) -> None:
    """Tables, checks, findings, the time it took, and what to type next."""
    connection = duckdb_session.connect(settings)
    catalog = open_catalog(settings)
    say("\nTables")
    for name in sorted(scan.list_tables(catalog), key=_layer):
        scan.pin_current(connection, catalog.load_table(name))
        rows = connection.execute(f"select count(*) from {qualified(name)}").fetchall()[0][0]
        say(f"  {name:<36}{rows:>9,} rows")
    say(f"\nChecks: {_checks(defs, instance)}")
    say("\nFindings, from Gold")
    for (title, query), sentence in zip(FINDINGS.items(), SENTENCES, strict=True):
        if finding := _finding(connection, query, sentence):
            say(f"  {title}\n    {finding}")
    if seconds is not None:
        say(f"\nBuilt in {int(seconds) // 60} min {int(seconds) % 60} s.")
    say(
        "\nNext\n"
        "  make dev                                 the Dagster UI, on http://127.0.0.1:3000\n"
        '  .venv/bin/lakehouse query "select * from gold.monthly_carrier_performance limit 5"\n'
        "  .venv/bin/lakehouse tables"
    )


def _layer(table: str) -> int:
    """The layers in their order, then what is none, such as quarantine."""
    layer, _, _ = table.partition(".")
    return LAYERS.index(layer) if layer in LAYERS else len(LAYERS)


def _finding(connection: "DuckDBPyConnection", query: str, sentence: str) -> str | None:
    """The sentence; None where too few days are built for it."""
    found = connection.execute(query).fetchone()
    return None if found is None or None in found else sentence.format(*found)


def _checks(defs: dg.Definitions, instance: dg.DagsterInstance) -> str:
    """How the last evaluation of each check ended."""
    keys = list(defs.resolve_asset_graph().asset_check_keys)
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    outcomes: Counter[str] = Counter()
    for key in keys:
        record = records.get(key)
        event = record.event.dagster_event if record and record.event else None
        # A run that was killed has planned it only.
        evaluated = event is not None and event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION
        evaluation = event.asset_check_evaluation_data if event and evaluated else None
        if evaluation is None:
            outcomes["not evaluated"] += 1
        elif evaluation.passed:
            outcomes["passed"] += 1
        else:
            outcomes["warned" if evaluation.severity == AssetCheckSeverity.WARN else "failed"] += 1
    return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
