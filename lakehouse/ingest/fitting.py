"""Rows fitted to the table's columns: what fits is loaded, the rest is named or set aside.

Where every value fits, the rows are read once. Only where one does not are they read again, to
tell which: then the source's schema mode says what becomes of it.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.incoming import DISCARDING, Incoming
from lakehouse.ingest.landed import ROW as ROW_NUMBER
from lakehouse.ingest.source import Extraction
from lakehouse.quality.quarantine import ROW, VALUE
from lakehouse.storage.sql import identifier, literal

WHY = {
    "new_column": "comes in a column that neither the contract nor the table has",
    "name_collision": "comes in a column whose name would be that of another",
}
SHOWN_TEXT = 200  # characters of a value
PROBLEM = "struct(column_name varchar, value varchar, rule varchar, reason varchar)"


@dataclass(frozen=True)
class Fitting:
    """Rows of a relation and the columns they have to fit.

    Args:
        shown: how messages name what brings the rows.
        relation: what SQL can select from, twice the same rows in the same order.
        columns: the relation's columns, each with what becomes of it.
        computed: SQL of further columns, over those that fit.
        row: SQL of a row's number.
        raw: SQL of a row as it came; none: its values by column, as text.
        word: what messages call a row.
        file: SQL of where a row came from; none: what messages name.
        may_all_lack_key: whether all rows may lack their key, so that they are set aside.
    """

    extraction: Extraction
    shown: str
    relation: str
    columns: Sequence[Incoming]
    computed: Mapping[str, str] = field(default_factory=dict)
    row: str = "row_number() over ()"
    raw: str | None = None
    word: str = "row"
    file: str | None = None
    may_all_lack_key: bool = False

    def strict(self) -> str:
        """The rows' query; it fails where a value does not fit or a row lacks its key."""
        wanted = [column for column in self.columns if column.unwanted is None]
        unwanted = [column for column in self.columns if column.unwanted]
        plain = {f"lakehouse_p{i}": sql for i, column in enumerate(wanted) if (sql := column.plain())}
        prepared = "".join(f", {sql} as {name}" for name, sql in plain.items())
        read = f"(select *{prepared} from {self.relation} as incoming)"
        values = [_value_or_error(column, f"lakehouse_p{i}") for i, column in enumerate(wanted)]
        selected = [f"{v} as {identifier(c.name)}" for v, c in zip(values, wanted, strict=True)] or [
            f"1 as {ROW_NUMBER}"
        ]
        computed = [f", {sql} as {identifier(name)}" for name, sql in self.computed.items()]
        clean = " and ".join(f"({column.text()} is null or error('unwanted'))" for column in unwanted)
        rows = f"select {', '.join(selected)} from {read} as incoming where {clean or 'true'}"
        return self.refusing_without_key(f"select *{''.join(computed)} from ({rows})")

    def refusing_without_key(self, rows: str) -> str:
        """A query that fails if a row lacks what it cannot do without."""
        present = [name for name in self.extraction.source.required if name in self.names]
        whole = " and ".join(f"({identifier(name)} is not null or error('no key'))" for name in present)
        return f"select * from ({rows}) where {whole}" if present else rows

    @property
    def names(self) -> list[str]:
        """The columns that are loaded."""
        return [*(column.name for column in self.columns if column.unwanted is None), *self.computed]

    def sort_out(self) -> str:
        """Set aside what does not fit; returns the query of the rows that stay.

        Raises:
            SourceError: a value does not fit, and the mode is not to discard it; or no row has its key.
        """
        mode = self.extraction.source.mode
        if mode not in DISCARDING:
            self._refuse_first_misfit()
        self._refuse_what_cannot_be_computed()
        if not self.may_all_lack_key:
            self._refuse_if_all_lack_a_key()
        whole = "lakehouse_lacks is not null"
        if mode == "discard_row":
            whole += " or len(lakehouse_problems) > 0"
        every = "list_filter(list_append(lakehouse_problems, lakehouse_lacks), lambda p: p is not null)"
        common = "lakehouse_raw as raw, lakehouse_came as source_file, lakehouse_row as source_row"
        sentence = "concat_ws(' ', 'column ' || p.column_name || ':', p.value, p.reason)"
        said = f"list_transform(problems, lambda p: {sentence})"
        quarantined = self.extraction.quarantined
        quarantined.add(
            self.extraction.partition,
            "select problems[1].column_name as column_name, problems[1].value as value,"
            " problems[1].rule as rule,"
            f" array_to_string({said}, '; ') as reason, raw, source_file, source_row"
            f" from (select {every} as problems, {common} from ({self._sorted()}) where {whole})",
            ROW,
        )
        if mode == "discard_value":
            quarantined.add(
                self.extraction.partition,
                f"select p.column_name as column_name, p.value as value, p.rule as rule, p.reason as reason,"
                f" raw, source_file, source_row from (select unnest(lakehouse_problems) as p, {common}"
                f" from ({self._sorted()}) where not ({whole}))",
                VALUE,
            )
        names = ", ".join(map(identifier, self.names)) or f"1 as {ROW_NUMBER}"
        return f"select {names} from ({self._sorted()}) where not ({whole})"

    def first_of_another(self, partition: date) -> tuple[str, str]:
        """Where the first row of another partition is, and which that is."""
        day = identifier(str(self.extraction.source.partition_by))
        row, other = self.extraction.connection.execute(
            f"select lakehouse_row, cast({day} as varchar) from ({self._sorted()})"
            f" where {day} <> {literal(partition)}::date order by 1 limit 1"
        ).fetchall()[0]
        return f"{self.word} {row}", other

    def _judged(self) -> str:
        """Each row with its values and what does not fit in it."""
        texts = [f"{column.text()} as t{i}" for i, column in enumerate(self.columns)]
        values = [
            f"try({column.value()}) as v{i}" for i, column in enumerate(self.columns) if not column.unwanted
        ]
        texts += [f"{column.complaint()} as c{i}" for i, column in enumerate(self.columns)]
        texts += [f"{self.raw} as lakehouse_raw"] if self.raw else []
        texts.append(f"{self.file or literal(self.shown)} as lakehouse_came")
        selected = ", ".join([f"{self.row} as lakehouse_row", *texts, *values])
        read = f"select {selected} from {self.relation} as incoming"
        pairs = ", ".join(f"{literal(c.brought)}, t{i}" for i, c in enumerate(self.columns))
        raw = "lakehouse_raw" if self.raw else f"cast(json_object({pairs}) as varchar)"
        problems = ", ".join(filter(None, (self._problem(i, c) for i, c in enumerate(self.columns))))
        named = [f", v{i} as {identifier(c.name)}" for i, c in enumerate(self.columns) if not c.unwanted]
        return (
            f"select lakehouse_row, lakehouse_came, {raw} as lakehouse_raw,"
            f" list_filter([null::{PROBLEM}{', ' if problems else ''}{problems}], lambda p: p is not null)"
            f" as lakehouse_problems{''.join(named)} from ({read})"
        )

    def _sorted(self) -> str:
        """Each judged row with what is computed of it, and what it lacks that it cannot do without."""
        required = self.extraction.source.required
        added = [
            f", {f'try({sql})' if self._may_fail(name) else sql} as {identifier(name)}"
            for name, sql in self.computed.items()
        ]
        lacks = [
            f"when {identifier(name)} is null"
            f" then {_problem(name, 'null', 'no_key', literal(self._lack(name)))}"
            for name in required
            if name in self.names
        ]
        lacking = f"case {' '.join(lacks)} end" if lacks else f"null::{PROBLEM}"
        return (
            f"select *, {lacking} as lakehouse_lacks from (select *{''.join(added)} from ({self._judged()}))"
        )

    def _may_fail(self, computed: str) -> bool:
        """Whether a row of which a column cannot be computed is set aside."""
        source = self.extraction.source
        return computed in source.required and source.mode in DISCARDING

    def _problem(self, i: int, column: Incoming) -> str | None:
        """SQL of what is wrong with a row's value of a column, null if nothing is."""
        if column.unwanted:
            why = literal(WHY[column.unwanted])
            problem = _problem(str(column.brought), f"t{i}", column.unwanted, why)
            return f"case when t{i} is not null then {problem} end"
        if column.column is None:
            return None
        problem = _problem(column.column.name, f"t{i}", "type", f"c{i}")
        return f"case when t{i} is not null and v{i} is null then {problem} end"

    def _refuse_first_misfit(self) -> None:
        found = self.extraction.connection.execute(
            f"select lakehouse_row, lakehouse_problems[1] from ({self._sorted()})"
            " where len(lakehouse_problems) > 0 order by 1 limit 1"
        ).fetchone()
        if found:
            row, problem = found
            value = problem["value"][:SHOWN_TEXT] if self.raw else repr(problem["value"])[:SHOWN_TEXT]
            raise SourceError(
                f"{self.shown} is not what was declared: {self.word} {row}, column {problem['column_name']}: "
                f"{value} {problem['reason']}."
            )

    def _refuse_what_cannot_be_computed(self) -> None:
        """Name the first row of which a column cannot be computed."""
        for name, sql in self.computed.items():
            if self._may_fail(name) or not self._failure(sql, "true"):
                continue
            rows = self.extraction.connection.execute(
                f"select lakehouse_row from ({self._judged()}) where try({sql}) is null order by 1"
            ).fetchall()
            # Of some it is null and no more: the first that fails is where the rows up to it do.
            upto = [f"try({sql}) is null and lakehouse_row <= {row}" for (row,) in rows]
            [first, *_] = rows[bisect_left(upto, True, key=lambda where: bool(self._failure(sql, where)))]
            raise SourceError(
                f"{self.shown} is not what was declared: {self.word} {first}, column {name}, which is {sql}: "
                f"{self._failure(sql, 'true')}."
            )

    def _failure(self, sql: str, where: str) -> str | None:
        """What an expression fails with for some of the rows, None if it does not."""
        import duckdb

        try:
            self.extraction.connection.execute(
                f"select count(c) from (select {sql} as c from ({self._judged()}) where {where})"
            ).fetchall()
        except duckdb.ConversionException as error:
            return str(error).splitlines()[0]
        return None

    def _refuse_if_all_lack_a_key(self) -> None:
        """One row without its key is a bad row; if all are, the source has changed."""
        rows, lacking, first = self.extraction.connection.execute(
            f"select count(*), count(lakehouse_lacks), any_value(lakehouse_lacks) from ({self._sorted()})"
        ).fetchall()[0]
        if rows and lacking == rows:
            raise SourceError(
                f"{self.shown}: {rows} rows have {self._lack(first['column_name'], is_reason=False)}."
            )

    def _lack(self, name: str, *, is_reason: bool = True) -> str:
        source = self.extraction.source
        said = f"no {name}, " + (
            "the column that says to which partition a row belongs"
            if name == source.partition_by
            else f"which is (part of) the key ({', '.join(source.required)})"
        )
        return f"the row has {said}" if is_reason else said


def _value_or_error(column: Incoming, plain: str) -> str:
    if column.column is None:
        return column.value()
    return f"case when {column.text()} is not null then coalesce({column.value(plain)}, error('misfit')) end"


def _problem(column: str, value: str, rule: str, reason: str) -> str:
    return (
        f"{{'column_name': {literal(column)}, 'value': cast({value} as varchar), 'rule': {literal(rule)},"
        f" 'reason': {reason}}}::{PROBLEM}"
    )
