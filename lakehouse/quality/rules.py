"""Row-level rules: rows that break one are set aside, each once, with the first rule and all reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakehouse.quality.contract_checks import ContractCheck
from lakehouse.quality.quarantine import Quarantined
from lakehouse.storage.errors import StorageError, reason
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staging import RowSource

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FILE = "lakehouse_file"


@dataclass(frozen=True)
class Rule:
    """A check of single rows, and the condition that a bad one meets."""

    check: ContractCheck
    condition: str

    @property
    def reason(self) -> str:
        """SQL of what is said of a bad row."""
        said = self.check.body.get("name") or f"breaks {self.check.name}"
        if self.check.column is None:
            return literal(said)
        value = f"coalesce(cast({identifier(self.check.column)} as varchar), 'null')"
        return f"{literal(f'{said}: {self.check.column} is ')} || {value}"


@dataclass(frozen=True)
class GoodRows:
    """The rows of a source that do not meet a condition."""

    source: RowSource
    bad: str

    @property
    def connection(self) -> "DuckDBPyConnection":
        """The source's connection."""
        return self.source.connection

    def query(self, partitions: Sequence[date] | None) -> str:
        """The SQL of these partitions' good rows, or of all."""
        return f"select * from ({self.source.query(partitions)}) where ({self.bad}) is not true"


def condition_of(rules: Sequence[Rule]) -> str:
    """What a row meets that breaks any of the rules."""
    return " or ".join(f"coalesce({rule.condition}, false)" for rule in rules)


def count_by_file(
    connection: "DuckDBPyConnection", paths: Sequence[str], rules: Sequence[Rule]
) -> dict[str, int]:
    """Rows that break a rule, by file; files without are left out."""
    counts = connection.execute(
        f"select {FILE}, count(*) from {rows_of(paths)} where {condition_of(rules)} group by all"
    ).fetchall()
    return dict(counts)


def set_aside(quarantined: Quarantined, partition: date | None, relation: str, rules: Sequence[Rule]) -> int:
    """Put the bad rows of a relation into quarantine; returns how many."""
    first = " ".join(f"when {rule.condition} then {literal(rule.check.name)}" for rule in rules)
    column = " ".join(
        f"when {rule.condition} then {literal(rule.check.column)}" for rule in rules if rule.check.column
    )
    value = " ".join(
        f"when {rule.condition} then cast({identifier(rule.check.column)} as varchar)"
        for rule in rules
        if rule.check.column
    )
    reasons = ", ".join(f"case when {rule.condition} then {rule.reason} end" for rule in rules)
    rows = f"{relation} as judged"
    names = {
        name
        for name, *_ in quarantined.connection.execute(f"describe from {rows}").fetchall()
        if name != FILE
    }
    raw = ", ".join(f"{literal(name)}, cast(judged.{identifier(name)} as varchar)" for name in sorted(names))
    source_file = "_source_file" if "_source_file" in names else "null"
    query = f"""
        select
            case {first} end as rule,
            {f"case {column} end" if column else "null"} as column_name,
            {f"case {value} end" if value else "null"} as value,
            concat_ws('; ', {reasons}) as reason,
            cast(json_object({raw}) as varchar) as raw,
            {source_file} as source_file,
            null as source_row
        from {rows}
        where {condition_of(rules)}"""
    return quarantined.add(partition, query)


def refuse_broken(connection: "DuckDBPyConnection", table: str, rows: str, rules: Sequence[Rule]) -> None:
    """Find the rule that rows could not be judged by.

    Args:
        rows: their query.

    Raises:
        StorageError: a rule cannot be evaluated, which it names with the reason.
    """
    import duckdb

    for rule in rules:
        try:
            connection.execute(f"select count(*) from ({rows}) where {rule.condition}")
        except duckdb.Error as error:
            said = reason(error).splitlines()[0]
            raise StorageError(
                f"{table}: its rule {rule.check.name} cannot be evaluated: {said} Correct the check in the "
                f"contract; `lakehouse contract verify {table}` then says whether it is right."
            ) from error


def rows_of(paths: Sequence[str]) -> str:
    """The rows of Parquet files, each with its file."""
    files = ", ".join(map(literal, paths))
    return f"read_parquet([{files}], union_by_name = true, hive_partitioning = false, filename = '{FILE}')"
