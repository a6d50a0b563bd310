"""Random sequences of writes against a plain model of what the table has to hold."""

import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from store import D1, D2, D3, Store

from lakehouse.settings import Settings

NAME = "silver.t"
DAYS = [D1, D2, D3]
OPTIONAL = ("a", "b")  # columns that come and go; x is always there
Row = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """One write; `broken` is the day whose rows cannot be computed."""

    kind: str
    rows: tuple[tuple[date, int], ...]
    columns: frozenset[str]
    days: tuple[date, ...]
    broken: date | None
    load_id: str

    def sql(self) -> str:
        """The rows as a query; an optional column holds twice x."""
        values = ", ".join(f"(date '{day}', {x})" for day, x in self.rows) or "(null::date, null::integer)"
        x = f"if(d = '{self.broken}', error('broken'), x)" if self.broken else "x"
        extra = "".join(f", {x} * 2 as {name}" for name in sorted(self.columns))
        return f"select d, {x} as x{extra} from (values {values}) t(d, x) where d is not null"

    def new_rows(self, day: date | None = None) -> list[Row]:
        return [
            {"d": d, "x": x} | dict.fromkeys(self.columns, 2 * x)
            for d, x in self.rows
            if day is None or d == day
        ]

    def fails(self, day: date | None = None) -> bool:
        hit = [d for d, _ in self.rows if d == self.broken]
        return bool(hit) and day in (None, self.broken)


@dataclass
class Model:
    """What the table holds."""

    rows: list[Row] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    exists: bool = False

    def _write(self, rows: list[Row], columns: set[str]) -> None:
        self.rows, self.columns, self.exists = rows, columns, True

    def apply(self, operation: Operation) -> None:
        columns = {"d", "x", *operation.columns}
        match operation.kind:
            case "replace" if not operation.fails():
                self._write(operation.new_rows(), columns)
            case "append" if operation.load_id not in self.loads and not operation.fails():
                self._write(self.rows + operation.new_rows(), self.columns | columns)
                if operation.rows:
                    self.loads.add(operation.load_id)
            case "overwrite":
                good = [day for day in operation.days if not operation.fails(day)]
                if good:
                    kept = [row for row in self.rows if row["d"] not in good]
                    new = [row for day in good for row in operation.new_rows(day)]
                    self._write(kept + new, self.columns | columns)

    def content(self) -> list[tuple[Any, ...]]:
        names = sorted(self.columns)
        return sorted((tuple(row.get(name) for name in names) for row in self.rows), key=str)


OPERATIONS = st.builds(
    Operation,
    kind=st.sampled_from(["overwrite", "overwrite", "overwrite", "append", "replace"]),
    rows=st.lists(st.tuples(st.sampled_from(DAYS), st.integers(-5, 5)), max_size=5).map(tuple),
    columns=st.frozensets(st.sampled_from(OPTIONAL)),
    days=st.lists(st.sampled_from(DAYS), min_size=1, max_size=3, unique=True).map(tuple),
    broken=st.one_of(st.none(), st.none(), st.sampled_from(DAYS)),
    load_id=st.sampled_from(["load-1", "load-2", "load-3"]),
)


def perform(store: Store, operation: Operation, model: Model) -> None:
    """Write, and compare what the write says of itself with what was to be expected."""
    before = store.snapshots(NAME)
    match operation.kind:
        case "overwrite":
            result = store.overwrite(NAME, operation.sql(), operation.days)
            assert set(result.failures) == {day for day in operation.days if operation.fails(day)}
            assert set(result.partitions) == set(operation.days) - set(result.failures)
            assert result.partitions == {day: len(operation.new_rows(day)) for day in result.partitions}
        case "replace" if operation.fails():
            with pytest.raises(duckdb.Error, match="broken"):
                store.replace(NAME, operation.sql(), "d")
        case "replace":
            assert store.replace(NAME, operation.sql(), "d").rows == len(operation.rows)
        case "append" if operation.fails() and operation.load_id not in model.loads:
            with pytest.raises(duckdb.Error, match="broken"):
                store.append(NAME, operation.sql(), operation.load_id, partition_by="d")
        case "append":
            store.append(NAME, operation.sql(), operation.load_id, partition_by="d")
    assert store.snapshots(NAME) - before in (0, 1)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # shrinking a failure takes minutes here, and six writes are few enough
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(OPERATIONS, min_size=2, max_size=6))
def test_the_table_is_what_the_model_says(operations: list[Operation]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store, model = Store(Settings(data_dir=Path(folder))), Model()
        for operation in operations:
            perform(store, operation, model)
            model.apply(operation)
            assert store.exists(NAME) == model.exists
            if model.exists:
                names = {column.name for column in store.table(NAME).schema().fields}
                assert names == model.columns
                assert store.read(NAME, ", ".join(sorted(names))) == model.content()
        assert store.unreferenced_files() == []
