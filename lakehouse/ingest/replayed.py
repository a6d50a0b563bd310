"""Rows from quarantine as an extraction brings them: fitted to the table's columns as they are now.

What was kept of a row is its values as text by column, or the JSON that a file had, whose kinds count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse.ingest.fitting import Fitting
from lakehouse.ingest.incoming import Brought, Columns, Incoming
from lakehouse.ingest.source import LOAD_COLUMNS, Extraction
from lakehouse.storage.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TAKEN_UP = "taken_up"
FROM_FILE = "rule in ('type', 'new_column', 'name_collision', 'no_key', 'no_column')"
# A value that is no text, or whose text was kept with its quotes, is as it was in a JSON file.
IS_JSON = (
    "len(list_filter(map_values(from_json(raw, '\"MAP(VARCHAR, JSON)\"')),"
    " lambda v: json_type(v) not in ('VARCHAR', 'NULL') or cast(v as varchar) = value)) > 0"
)

RAW = "cast(json_merge_patch(raw, json_object('_load_id', load_id)) as varchar)"
LACKS = (
    "concat('what was kept of the row has no ', column_name, ', which is computed when its file is read: load"
    " the file again, or declare the column as optional')"
)


@dataclass(frozen=True)
class Replayed:
    """The rows that a replay has taken up.

    Args:
        oldest_wins: whether of two rows of a key the one that came first counts.
    """

    extraction: Extraction
    oldest_wins: bool = False

    def keep(self, rows: str) -> int:
        """Read the rows from quarantine, once; returns how many there are.

        Raises:
            duckdb.Error: they cannot be read.
        """
        came = "coalesce(json_extract_string(raw, '/_load_id'), load_id)"
        order = "desc" if self.oldest_wins else "asc"  # of a batch the last row of a key counts
        self._connection.execute(
            f"create or replace table {TAKEN_UP} as select cast(raw as json) as raw, source_file, source_row,"
            f" value, rule, {came} as load_id, coalesce({IS_JSON}, false) as is_json from ({rows})"
            f" order by try_cast(load_id as double) {order}, source_row, raw"
        )
        [(kept,)] = self._connection.execute(f"select count(*) from {TAKEN_UP}").fetchall()
        return int(kept)

    def sort_out(self) -> Iterator[str]:
        """Set aside what does not fit; gives the queries of the rows that do.

        Raises:
            SourceError: a column of the rows cannot be matched.
        """
        forms = self._connection.execute(f"select distinct is_json from {TAKEN_UP} order by 1").fetchall()
        for (is_json,) in forms:
            yield self._fitting(self._names(is_json), is_json).sort_out()

    def _fitting(self, names: list[str], is_json: bool) -> Fitting:
        source = self.extraction.source
        columns = self._columns(names, is_json)
        lacking = self._lacking(columns)
        self._set_aside(lacking, is_json)
        keys = [
            f", {'json_extract' if is_json else 'json_extract_string'}(raw, {_pointer(column)})"
            f" as {identifier(column.brought.name)}"
            for column in columns
        ]
        relation = (
            f"(select raw, source_file, source_row, load_id{''.join(keys)}"
            f" from {TAKEN_UP} where is_json = {is_json} and ({lacking}) is null)"
        )
        there = {column.name for column in columns}
        return Fitting(
            self.extraction,
            source.origin,
            relation,
            [*columns, _carried("source_file", "_source_file"), _carried("load_id", "_load_id")],
            {name: "null" for name in source.required if name not in there},
            row="source_row",
            raw=RAW,
            file="source_file",
            may_all_lack_key=True,
        )

    def _columns(self, names: list[str], is_json: bool) -> list[Incoming]:
        import duckdb

        source, kind = self.extraction.source, duckdb.type("json" if is_json else "varchar")
        # By number: DuckDB takes names that differ by case for one.
        brought = [
            Brought(f"k{number}", kind, "varchar", called=name, is_json=is_json)
            for number, name in enumerate(names)
        ]
        return Columns(source, source.origin, self.extraction.held).match(brought)

    def _lacking(self, columns: list[Incoming]) -> str:
        """SQL of the column that what was kept of a row lacks, null if it lacks none.

        A file has every column, but for those that are computed when it is read. What a source yields as
        rows may lack one, which is null then.
        """
        source = self.extraction.source
        pointers = {column.name: _pointer(column) for column in columns}
        cases = [
            f"when {f'not json_exists(raw, {pointers[name]})' if name in pointers else 'true'}"
            f" then {literal(name)}"
            for name in (column.name for column in source.columns if not column.optional)
        ]
        of_file = f"{FROM_FILE} and source_file is distinct from {literal(source.origin)}"
        return f"case when {of_file} then case {' '.join(cases)} end end" if cases else "null"

    def _set_aside(self, lacking: str, is_json: bool) -> None:
        """Set aside the rows that lack a column."""
        self.extraction.quarantined.add(
            self.extraction.partition,
            f"select 'no_column' as rule, column_name, null as value, {LACKS} as reason, {RAW} as raw,"
            f" source_file, source_row from (select *, {lacking} as column_name from {TAKEN_UP}"
            f" where is_json = {is_json}) where column_name is not null",
        )

    def _names(self, is_json: bool) -> list[str]:
        added = {column.name for column in LOAD_COLUMNS}
        names = self._connection.execute(
            f"select distinct unnest(json_keys(raw)) from {TAKEN_UP} where is_json = {is_json} order by 1"
        ).fetchall()
        return [name for (name,) in names if name not in added]

    @property
    def _connection(self) -> "DuckDBPyConnection":
        return self.extraction.connection


def _carried(name: str, to: str) -> Incoming:
    """A column that says where a row came from, which it keeps."""
    import duckdb

    return Incoming(Brought(name, duckdb.type("varchar")), None, to)


def _pointer(column: Incoming) -> str:
    """SQL of the JSON pointer to what a column holds of a row."""
    return literal("/" + str(column.brought).replace("~", "~0").replace("/", "~1"))
