"""The rows that fail a check: the SQL that finds them, and the first of them as a person may see them."""

from datetime import date
from typing import TYPE_CHECKING, Any

from lakehouse.quality.contract import Contract
from lakehouse.quality.masking import hidden, masked_columns
from lakehouse.quality.refused import refused_view
from lakehouse.storage.errors import reason
from lakehouse.storage.sql import literal, qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAMPLE_ROWS = 5


def rows_of_refused(table: str, run_id: str, partition: date | None) -> str:
    """SQL of what a run was not to publish, up to the condition that comes after."""
    of_partition = f" and refused_partition = {literal(partition)}" if partition else ""
    return f"select * from {refused_view(table)} where run_id = {literal(run_id)}{of_partition} and"


def rows_of_published(table: str, partition_by: str | None, partition: date | None) -> str:
    """SQL of what is published of a partition, up to the condition that comes after."""
    of_partition = f" {partition_by} = date {literal(partition)} and" if partition else ""
    return f"select * from {table} where{of_partition}"


def sample(connection: "DuckDBPyConnection", contract: Contract, condition: str) -> list[dict[str, Any]]:
    """The first rows of the contract's table that meet a condition, personal values masked."""
    import duckdb

    masked = masked_columns(contract)
    try:
        cursor = connection.execute(
            f"select * from {qualified(contract.table)} where {condition} limit {SAMPLE_ROWS}"
        )
        names = [described[0] for described in cursor.description or ()]
        rows = cursor.fetchall()
    except duckdb.Error as error:
        return [{"error": reason(error)}]
    return [
        {name: _shown(value, name in masked) for name, value in zip(names, row, strict=True)} for row in rows
    ]


def _shown(value: object, masked: bool) -> str | None:
    return hidden(None if value is None else str(value), masked)
