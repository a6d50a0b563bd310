"""Overwriting a window of time, also where a file holds rows on both sides of its edge.

Such a file is written again without the window's rows. What it holds depends on the table, so each
attempt of the commit begins with what is there then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from pyiceberg.expressions import And, BooleanExpression, GreaterThanOrEqual, LessThan
from pyiceberg.types import DateType, TimestampType, TimestamptzType

from lakehouse.storage.data_files import read_rest
from lakehouse.storage.errors import PartitionMismatchError, StorageError
from lakehouse.storage.sql import identifier, literal
from lakehouse.storage.staged_write import StagedWrite, refuse_if_judged_bad
from lakehouse.storage.staging import Audit, RowSource, select_as, stage
from lakehouse.storage.tables import TableSpec

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.types import IcebergType


@dataclass(frozen=True)
class TimeWindow:
    """Values of a date or timestamp column from `start`, to `end` excluded."""

    column: str
    start: date | datetime
    end: date | datetime

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise StorageError(
                f"The window of {self.column} ends ({self.end}) before it begins ({self.start})."
            )

    def expression(self) -> BooleanExpression:
        """The window for PyIceberg."""
        return And(
            GreaterThanOrEqual(term=self.column, value=self.start.isoformat()),
            LessThan(term=self.column, value=self.end.isoformat()),
        )

    def sql(self) -> str:
        """The window for DuckDB; not true for a row without a time."""
        column = identifier(self.column)
        return f"({column} >= {literal(self.start)} and {column} < {literal(self.end)})"


@dataclass(frozen=True)
class WindowStager:
    """Stages the rows of a window, and what files at its edges hold besides."""

    spec: TableSpec
    source: RowSource
    window: TimeWindow
    audit: Audit | None = None
    partitions: None = None
    follows_base: bool = True

    def stage(
        self, schema: "Schema", location: str, present: Sequence[str], base: "Table | None"
    ) -> StagedWrite:
        """Write the window's rows and those of straddling files that lie outside of it.

        Raises:
            PartitionMismatchError: the source gave rows outside the window.
            duckdb.Error, StorageError: nothing was written.
        """
        if self.window.column not in present:
            raise StorageError(f"{self.spec.name}: the rows have no column {self.window.column}.")
        self._refuse_other_type(schema.find_type(self.window.column))
        rows = select_as(self.source.query(None), schema, present)
        count = self._count_refusing_strays(rows)
        whole, straddling = self._files(base)
        if base is not None and straddling:
            rows = f"{read_rest(base, straddling, schema, self.window.sql())} union all {rows}"
        files = stage(
            self.source.connection,
            rows,
            schema,
            location,
            partition_by=self.spec.partition_by,
            sort_by=self.spec.sort_by,
        )
        refuse_if_judged_bad(self.spec, self.audit, files)
        return StagedWrite(files, None, {}, removed=[*whole, *straddling], merged=count)

    def _refuse_other_type(self, kind: "IcebergType") -> None:
        """A window of another kind than its column would be cast, and its edges moved."""
        for edge in (self.window.start, self.window.end):
            has: IcebergType = DateType()
            if isinstance(edge, datetime):
                has = TimestamptzType() if edge.tzinfo else TimestampType()
            if has != kind:
                raise StorageError(
                    f"{self.spec.name}: the window of {self.window.column} is of {has} ({edge}), but the "
                    f"column is {kind}. Give the window the column's type."
                )

    def _count_refusing_strays(self, rows: str) -> int:
        count, inside = self.source.connection.execute(
            f"select count(*), count(*) filter ({self.window.sql()}) from ({rows}\n)"
        ).fetchall()[0]
        if inside < count:
            raise PartitionMismatchError(
                f"{self.spec.name}: {count - inside} rows are not of the window being written "
                f"({self.window.column} from {self.window.start} to {self.window.end}, the end excluded)."
            )
        return int(count)

    def _files(self, base: "Table | None") -> tuple[list["DataFile"], list["DataFile"]]:
        """The files that hold rows of the window: those without other rows, and those with."""
        if base is None or self.window.column not in base.schema().column_names:
            return [], []  # rows from before the column have no time
        whole: list[DataFile] = []
        straddling: list[DataFile] = []
        for task in base.scan(row_filter=self.window.expression()).plan_files():
            (whole if _is_within(task.file, base, self.window) else straddling).append(task.file)
        return whole, straddling


def _is_within(file: "DataFile", table: "Table", window: TimeWindow) -> bool:
    """Whether the statistics prove that every row of a file is in the window."""
    from pyiceberg.expressions.visitors import ROWS_MUST_MATCH, _StrictMetricsEvaluator

    evaluator = _StrictMetricsEvaluator(table.schema(), window.expression())
    return bool(evaluator.eval(file) == ROWS_MUST_MATCH)
