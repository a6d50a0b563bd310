"""What `lakehouse quarantine list` and `show` tell of the rows and values that were set aside."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.catalog import metadata_locations
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.errors import ContractError
from lakehouse.quality.masking import Mask, masked_columns
from lakehouse.quality.quarantine import LAYER, quarantine_of, table_of
from lakehouse.query import ANSWER, open_query
from lakehouse.query_errors import NO_TABLES, QueryError, no_such_table
from lakehouse.storage.sql import literal, qualified

if TYPE_CHECKING:
    from datetime import date

    from duckdb import DuckDBPyConnection

    from lakehouse.settings import Settings

HELD_HEADER = ("table", "partition", "rows", "values", "since (UTC)", "newest run", "rules")
SHOWN_RUN = 8  # as many characters of a run's id as Dagster shows
COLUMNS = (
    "partition",
    "scope",
    "rule",
    "column_name",
    "value",
    "reason",
    "source_file",
    "source_row",
    "run_id",
    "quarantined_at",
    "raw",
)


@dataclass(frozen=True)
class Held:
    """What quarantine holds of one partition of a table, or of a table without partitions.

    Args:
        rows: that are not in the table.
        values: in whose place the table has null.
        rules: what they broke, each with how many did.
        since: when the first of them was set aside, in UTC.
        run_id: the run that set aside the last.
    """

    table: str
    partition: str | None
    rows: int
    values: int
    rules: str
    since: str
    run_id: str

    def cells(self) -> tuple[str, ...]:
        """The line of it that a person reads."""
        counts = f"{self.rows:,}", f"{self.values:,}"
        return (
            self.table,
            self.partition or "-",
            *counts,
            self.since,
            self.run_id[:SHOWN_RUN],
            self.rules,
        )


def held_in_quarantine(settings: "Settings", table: str | None = None) -> list[Held]:
    """What quarantine holds, of one table or of all.

    Raises:
        QueryError: a table of quarantine cannot be read.
    """
    known = metadata_locations(settings)
    names = [name for key, (name, _) in known.items() if key.startswith(f"{LAYER}.")]
    wanted = [name for name in names if table is None or name == quarantine_of(table)]
    return [held for name in wanted for held in _held(settings, name)]


def _held(settings: "Settings", name: str) -> list[Held]:
    by_rule = (
        "select partition, rule, count(*) filter (scope = 'row') as rows,"
        " count(*) filter (scope = 'value') as single, min(quarantined_at) as since,"
        f" max(quarantined_at) as newest, arg_max(run_id, quarantined_at) as run from {qualified(name)}"
        " group by all"
    )
    connection = open_query(
        settings,
        "select cast(partition as varchar), cast(sum(rows) as bigint), cast(sum(single) as bigint),"
        " string_agg(rule || ' ' || (rows + single), ', ' order by rows + single desc, rule),"
        " strftime(min(since), '%Y-%m-%d %H:%M:%S'), arg_max(run, newest)"
        f" from ({by_rule}) group by partition order by partition",
    )
    return [Held(table_of(name), *row) for row in connection.execute(f"from {ANSWER}").fetchall()]


def table_named(settings: "Settings", name: str) -> str:
    """The table of this name, as the catalog writes it; nothing of it need be in quarantine.

    Raises:
        QueryError: there is no such table, nor anything of it in quarantine.
    """
    known = metadata_locations(settings)
    if not known:
        raise QueryError(NO_TABLES)
    if name.lower() in known:
        table, _ = known[name.lower()]
        return table_of(table) if table.startswith(f"{LAYER}.") else table
    aside = known.get(quarantine_of(name.lower()).lower())
    if aside is None:
        raise no_such_table(name, (table for table, _ in known.values() if not table.startswith(f"{LAYER}.")))
    return table_of(aside[0])


def open_quarantine(
    settings: "Settings",
    table: str,
    partition: "date | None",
    rule: str | None,
    limit: int,
    *,
    unmasked: bool,
) -> tuple["DuckDBPyConnection", int]:
    """A connection whose `answer` gives the rows of a table that are in quarantine, and how many there are.

    Raises:
        QueryError: quarantine cannot be read, or the contract that says what is masked.
    """
    conditions = [f"partition = date {literal(partition)}"] if partition else []
    conditions += [f"rule = {literal(rule)}"] if rule else []
    where = f"where {' and '.join(conditions)}" if conditions else ""
    mask = Mask(() if unmasked else masked_columns(contract_of(settings, table)))
    texts = ", ".join(f"cast({name} as varchar) as {name}" for name in COLUMNS)
    first = (
        f"select *, count(*) over () as total from {qualified(quarantine_of(table))} {where}"
        f" order by partition, rule, source_file, source_row, raw, value limit {limit}"
    )
    connection = open_query(settings, f"select {texts}, total from ({first})")
    rows = connection.execute(f"from {ANSWER}").fetchall()
    _show(connection, [_masked(dict(zip(COLUMNS, row, strict=False)), mask) for row in rows])
    return connection, int(rows[0][-1]) if rows else 0


def _masked(row: dict[str, str | None], mask: Mask) -> dict[str, str | None]:
    return row | {
        "value": mask.value(row["column_name"], row["value"]),
        "reason": mask.reason(row["reason"], row["raw"]),
        "raw": mask.raw(row["raw"]),
    }


def _show(connection: "DuckDBPyConnection", rows: list[dict[str, str | None]]) -> None:
    """Let `answer` be these rows."""
    types = {"partition": "date", "source_row": "bigint", "quarantined_at": "timestamptz"}
    declared = ", ".join(f"{name} {types.get(name, 'varchar')}" for name in COLUMNS)
    connection.execute(f"create temp table masked ({declared})")
    for row in rows:  # not bound: for the first parameter DuckDB imports pandas
        values = ", ".join("null" if value is None else literal(value) for value in row.values())
        connection.execute(f"insert into masked values ({values})")
    connection.execute(f"create or replace temp view {ANSWER} as from masked")


def contract_of(settings: "Settings", table: str) -> "Contract | None":
    """The contract of a table, which says what is masked; None: it has none.

    Raises:
        QueryError: it cannot be read.
    """
    layer, _, name = table.partition(".")
    file = settings.contracts_dir / layer / f"{name}.yml"
    if not file.exists():
        return None
    try:
        return read_contract(file, table)
    except ContractError as error:
        raise QueryError(
            f"{error} It says which columns are masked: mend it, or ask for --unmasked."
        ) from error
