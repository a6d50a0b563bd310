"""A contract drafted from what a table holds, for a person to make one of.

It states what the rows show to be true and leaves open what they cannot: who answers for the table, what a
column means, which ranges are right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from lakehouse.quality import gates
from lakehouse.quality.draft_columns import column_lines, described, scalar
from lakehouse.quality.table_keys import composite_key, unique_columns
from lakehouse.quality.table_profile import TableProfile, read_profile
from lakehouse.quality.todo import TODO
from lakehouse.storage.scan import table_name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.table import Table

    from lakehouse.quality.model_docs import Model
    from lakehouse.settings import Settings


@dataclass(frozen=True)
class Draft:
    """What a draft is made of.

    Args:
        unique: columns that are unique each, the likeliest key first.
        key: columns that are unique together, where none is alone.
        description: of the table, where somebody gave one.
        descriptions: of its columns.
    """

    profile: TableProfile
    unique: Sequence[str] = ()
    key: Sequence[str] = ()
    description: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict)

    def text(self, settings: "Settings") -> str:
        """The contract as its file would hold it.

        Args:
            settings: the project's gates, of which the draft says what the table does not meet.
        """
        lines = [*self._head(), *_gate_lines(self.profile, settings), "columns:"]
        for column in self.profile.columns:
            lines += column_lines(column, self.profile, self.descriptions, self._note_on_key(column.name))
        return "\n".join([*lines, *self._key_lines()]) + "\n"

    def _head(self) -> Iterator[str]:
        table = self.profile.table
        yield f"# Drafted from the {self.profile.rows:,} rows of {table}, and true of them. Decide what is"
        yield f"# meant to hold, write what is {TODO}, and run `lakehouse contract verify {table}`."
        yield f"dataset: lakehouse/{table.replace('.', '/')}"
        yield 'version: "1.0.0"'
        yield f"owner: {TODO} # who answers for the table, such as team:sales"
        yield "tier: 3 # 1, 2 or 3: 1 is a table that much depends on"
        if self.profile.partition_by:
            yield "timezone: UTC # whose midnight a partition ends at, such as America/New_York"
        yield from described(self.description, "")

    def _note_on_key(self, column: str) -> str | None:
        """What to say beside the check that a column is unique; None: it has no such check."""
        if column not in self.unique[:1]:
            return None
        others = f"; so are {', '.join(self.unique[1:])}" if self.unique[1:] else ""
        return f"unique so far{others}"

    def _key_lines(self) -> Iterator[str]:
        if self.key:
            yield "checks:"
            yield "  - duplicate: # unique together so far: see that it is the key, and no chance"
            yield f"      columns: [{', '.join(map(scalar, self.key))}]"
        elif not self.unique:
            yield "# No key was found among the likely columns, up to three together. If there is one:"
            yield "# checks:"
            yield "#   - duplicate:"
            yield "#       columns: [first, second]"


def draft_of(
    connection: "DuckDBPyConnection", table: "Table", load_columns: Sequence[str], model: "Model | None"
) -> Draft:
    """Look at a table's rows and draft a contract.

    Args:
        connection: one that can read Iceberg; the table's name becomes a view on it.
        load_columns: what a Bronze table has beside the columns of its contract.
        model: dbt's, of Silver and Gold, whose descriptions the contract shares.

    Raises:
        ContractError: the table cannot be read.
        UnsupportedTypeError: a column has a type that DuckDB does not write.
    """
    name = table_name(table)
    profile = read_profile(connection, table, load_columns if name.startswith("bronze.") else ())
    unique = unique_columns(connection, profile)
    key = () if unique else composite_key(connection, profile)
    described_there = model.columns if model else {}
    return Draft(profile, unique, key, model.description if model else "", described_there)


def _gate_lines(profile: TableProfile, settings: "Settings") -> list[str]:
    """The gates that the rows would not pass as the project sets them."""
    if not profile.rows:
        return ["gates:", "  may_be_empty: true # as it is now; without rows nothing else could be seen"]
    limits = gates.Gates(settings.good_rows_percent, settings.row_count_change_percent)
    off = 0.0
    for partition, rows in profile.partitions.items():
        judged = gates.row_count(limits, partition, rows, profile.partitions)
        if not judged.good:
            off = max(off, abs(rows / judged.metrics["usual_rows"] - 1) * 100)
    if not off:
        return []
    return [
        "gates:",
        f"  row_count_change_percent: {ceil(off / 10) * 10} # one was {off:.0f} % off those before it",
    ]
