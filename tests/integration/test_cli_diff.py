"""`lakehouse diff`: held against plain Python, and what it says when it cannot compare."""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.settings import Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec

TABLE = "silver.orders"
CONTRACT = """\
dataset: lakehouse/silver/orders
version: "1.0.0"
owner: team:orders
tier: 2
columns:
  - {name: d, data_type: date, description: The day.}
  - {name: id, data_type: integer, description: Which order.}
  - {name: line, data_type: integer, description: Which line of it.}
  - {name: price, data_type: double, description: In euros.}
  - {name: who, data_type: varchar, description: The customer., pii: personal}
checks:
  - duplicate:
      name: one row a line
      columns: [id, line]
"""
Row = tuple[Any, ...]


class Lake:
    """One table that is written again and again."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.catalog, self.connection = open_catalog(settings), duckdb_session.connect(settings)

    def query(self, _: object) -> str:
        return self.sql

    def write(self, sql: str, days: Sequence[date] | None = None) -> int:
        """Replace the table, or some of its days; returns the snapshot."""
        self.sql = sql
        spec = TableSpec(TABLE, "d" if days else None)
        if days is None:
            result = write.replace(self.catalog, spec, self)
        else:
            result = write.overwrite_partitions(self.catalog, spec, self, days)
        assert result.snapshot_id
        return result.snapshot_id

    def write_rows(self, rows: Sequence[Row], days: Sequence[date] | None = None) -> int:
        values = ", ".join(f"({', '.join(map(_sql, row))})" for row in rows)
        return self.write(
            "select d::date as d, id::integer as id, line::integer as line, price::double as price,"
            f" who::varchar as who from (values {values}) as t(d, id, line, price, who)",
            days,
        )


def _sql(value: Any) -> str:
    return "null" if value is None else f"'{value}'"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    contract = tmp_path / "checks" / "silver" / "orders.yml"
    contract.parent.mkdir(parents=True)
    contract.write_text(CONTRACT, encoding="utf-8")
    monkeypatch.setenv("LAKEHOUSE_PROJECT_DIR", str(tmp_path))
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "the user's data"))
    return Settings()


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake(settings)


def diff(*args: str, exit_code: int = 1) -> Any:
    result = run(*args, "--json")
    assert result.exit_code == exit_code, result.output
    return json.loads(result.stdout)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["diff", TABLE, *args])


D1, D2, D3 = date(2013, 1, 1), date(2013, 1, 2), date(2013, 1, 3)
OLD: list[Row] = [
    (D1, 1, 1, 10.0, "ann"),
    (D1, 1, 2, None, "ann"),
    (D1, 2, 1, 5.0, None),
    (D1, None, 1, 1.0, "nobody"),  # a key that is null
    (D1, 7, 1, 1.0, "twin"),
    (D1, 7, 1, 1.0, "twin"),  # a key that is there twice
    (D1, 8, 1, float("nan"), "same"),
    (D1, 9, 1, 3.0, "gone"),
]
NEW: list[Row] = [
    (D1, 1, 1, 11.0, "ann"),
    (D1, 1, 2, 2.0, None),
    (D1, 2, 1, 5.0, None),
    (D1, None, 1, 2.0, "nobody"),
    (D1, 7, 1, 1.0, "twin"),
    (D1, 7, 1, 4.0, "twin"),
    (D1, 8, 1, float("nan"), "same"),
    (D1, 10, 1, 3.0, "new"),
    (D1, 10, 1, 3.0, "new"),
]


def recomputed(old: Sequence[Row], new: Sequence[Row]) -> tuple[dict[str, int], dict[str, int]]:
    """Rows by fate and changed values by column, where the key is `id, line`, in plain Python."""
    before, after = Counter(map(_same_nan, old)), Counter(map(_same_nan, new))
    sides: list[defaultdict[Row, list[Row]]] = [defaultdict(list), defaultdict(list)]
    for side, surplus in zip(sides, (before - after, after - before), strict=True):
        for row in sorted(surplus.elements(), key=str):
            side[row[1:3]].append(row)
    gone, come = sides
    columns: Counter[str] = Counter()
    changed = 0
    for key in gone.keys() & come.keys():
        for was, now in zip(gone[key], come[key], strict=False):
            changed += 1
            columns.update(
                name
                for name, a, b in zip(("d", "id", "line", "price", "who"), was, now, strict=True)
                if a != b
            )
    added, removed = (sum(map(len, side.values())) - changed for side in (come, gone))
    same = sum((before & after).values())
    return {"added": added, "removed": removed, "changed": changed, "unchanged": same}, dict(columns)


def _same_nan(row: Row) -> Row:
    return tuple("nan" if isinstance(value, float) and math.isnan(value) else value for value in row)


def test_rows_and_values_are_counted_as_plain_python_counts_them(lake: Lake) -> None:
    lake.write_rows(OLD)
    lake.write_rows(NEW)
    found = diff()
    rows, columns = recomputed(OLD, NEW)
    assert found["rows"] == rows == {"added": 2, "removed": 1, "changed": 4, "unchanged": 3}
    assert {one["column"]: one["rows"] for one in found["columns"]} == columns == {"price": 4, "who": 1}
    price = next(one for one in found["columns"] if one["column"] == "price")
    assert (price["filled"], price["emptied"]) == (1, 0)


def test_a_thousand_random_rows_are_counted_as_plain_python_counts_them(lake: Lake) -> None:
    chance = random.Random(6)

    def row() -> Row:
        return (
            D1,
            chance.choice([None, *range(150)]),
            chance.randint(1, 2),
            chance.choice([None, 1.5, 2.5]),
            None,
        )

    old = [row() for _ in range(600)]
    new = [*chance.sample(old, 400), *(row() for _ in range(400))]
    lake.write_rows(old)
    lake.write_rows(new)
    rows, _ = recomputed(old, new)
    assert diff("--limit", "0")["rows"] == rows
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    whole = diff("--no-key", "--limit", "0")["rows"]
    assert (whole["added"], whole["removed"]) == (come.total(), gone.total())


def test_the_same_rows_in_other_files_are_no_difference(lake: Lake) -> None:
    lake.write_rows(OLD)
    lake.write_rows(OLD[::-1])
    found = diff(exit_code=0)
    assert found["differs"] is False
    assert found["from"]["files_read"] == found["to"]["files_read"] == 1


def test_changed_rows_show_their_key_and_values_and_mask_those_of_a_person(lake: Lake) -> None:
    lake.write_rows(OLD)
    lake.write_rows(NEW)
    changes = diff()["samples"]["changed"]
    assert {"key": {"id": "1", "line": "1"}, "values": {"price": {"from": "10.0", "to": "11.0"}}} in changes
    assert changes[1]["values"] == {
        "price": {"from": None, "to": "2.0"},
        "who": {"from": "***", "to": None},
    }
    text = run().stdout
    assert "id=1, line=1: price 10.0 → 11.0" in text
    assert "ann" not in text
    assert "nobody" not in text
    assert "who ann → null" in run("--unmasked").stdout


def test_limit_is_how_many_rows_of_each_kind_are_shown(lake: Lake) -> None:
    lake.write_rows(OLD)
    lake.write_rows(NEW)
    samples = diff("--limit", "1")["samples"]
    assert [len(samples[kind]) for kind in ("added", "removed", "changed")] == [1, 1, 1]
    assert "Changed rows, 1 of 4" in run("--limit", "1").stdout


def test_columns_that_come_go_and_change_are_told_apart(lake: Lake) -> None:
    lake.write("select 1 as id, 1 as line, 5 as price, 'x' as gone, '7' as code")
    lake.write("select 1 as id, 1 as line, 5.5::double as price, 7 as code, true as fresh")
    found = diff()
    assert found["schema"]["added"] == [{"name": "fresh", "type": "boolean"}]
    assert found["schema"]["removed"] == [{"name": "gone", "type": "varchar"}]
    assert {one["column"]: (one["from"], one["to"]) for one in found["schema"]["retyped"]} == {
        "price": ("integer", "double"),
        "code": ("varchar", "integer"),
    }
    assert {one["column"]: one["rows"] for one in found["columns"]} == {"price": 1}  # '7' and 7 read the same
    text = run().stdout
    assert "added    fresh boolean" in text
    assert "retyped  price from integer to double" in text


def test_a_renamed_column_keeps_its_values(lake: Lake) -> None:
    lake.write_rows(OLD)
    with lake.catalog.load_table(TABLE).update_schema() as update:
        update.rename_column("price", "amount")
    lake.write("select date '2013-01-01' as d, 1 as id, 1 as line, 10.0::double as amount, 'ann' as who")
    found = diff()
    assert found["schema"]["renamed"] == [{"from": "price", "to": "amount"}]
    assert found["rows"] == {"added": 0, "removed": 7, "changed": 0, "unchanged": 1}


def test_a_schema_change_alone_is_a_difference(lake: Lake) -> None:
    lake.write("select 1 as id, 1 as line")
    lake.write("select 1 as id, 1 as line, null::varchar as note")
    assert diff()["rows"] == {"added": 0, "removed": 0, "changed": 0, "unchanged": 1}


def test_nested_values_are_compared(lake: Lake) -> None:
    lake.write("select 1 as id, 1 as line, [1, 2] as l, {'a': 1} as s")
    lake.write("select 1 as id, 1 as line, [1, 3] as l, {'a': 1} as s")
    found = diff()
    assert [one["column"] for one in found["columns"]] == ["l"]


def test_files_that_both_snapshots_have_are_not_read(lake: Lake) -> None:
    """The file of the day that did not change is away meanwhile."""
    lake.write_rows([(day, 1, day.day, 1.0, "x") for day in (D1, D2)], [D1, D2])
    lake.write_rows([(D2, 1, D2.day, 2.0, "x")], [D2])
    files = [task.file for task in lake.catalog.load_table(TABLE).scan().plan_files()]
    shared = next(Path(f.file_path) for f in files if "2013-01-01" in f.file_path)
    shared.rename(shared.with_suffix(".away"))
    found = diff()
    assert found["rows"] == {"added": 0, "removed": 0, "changed": 1, "unchanged": 1}
    assert (found["from"]["files_read"], found["to"]["files_read"]) == (1, 1)


def test_one_partition_can_be_compared(lake: Lake) -> None:
    lake.write_rows([(day, 1, day.day, 1.0, "x") for day in (D1, D2)], [D1, D2])
    lake.write_rows([(day, 1, day.day, 2.0, "x") for day in (D1, D2)], [D1, D2])
    assert diff()["rows"]["changed"] == 2
    found = diff("--partition", "2013-01-02")
    assert found["rows"] == {"added": 0, "removed": 0, "changed": 1, "unchanged": 0}
    assert found["from"]["files"] == 1
    assert diff("--partition", "2013-01-03", exit_code=0)["differs"] is False


def test_load_columns_are_left_out_unless_asked_for(lake: Lake) -> None:
    lake.write("select 1 as id, 1 as line, 'a' as _load_id, now() as _loaded_at")
    lake.write("select 1 as id, 1 as line, 'b' as _load_id, now() as _loaded_at")
    assert diff(exit_code=0)["not_compared"] == ["_load_id", "_loaded_at"]
    assert diff("--all-columns")["rows"]["changed"] == 1
    assert diff("--all-columns", "--ignore", "_load_id", "--ignore", "_loaded_at", exit_code=0)


def test_snapshots_tags_branches_and_times_name_a_point(lake: Lake) -> None:
    first = lake.write_rows(OLD[:1])
    second = lake.write_rows(OLD[:2])
    third = lake.write_rows(OLD[:3])
    lake.catalog.load_table(TABLE).manage_snapshots().create_tag(first, "audited").commit()
    moments = {
        entry.snapshot_id: entry.timestamp_ms
        for entry in lake.catalog.load_table(TABLE).metadata.snapshot_log
    }

    def points(*args: str) -> tuple[int, int]:
        found = diff(*args)
        return found["from"]["snapshot_id"], found["to"]["snapshot_id"]

    assert points() == (second, third)
    assert points("--to", str(second)) == (first, second)
    assert points("--from", "audited") == (first, third)
    assert points("--from", str(first), "--to", "main") == (first, third)
    at = lake.connection.execute(f"select make_timestamp({moments[second] * 1000})::varchar").fetchall()[0][0]
    assert points("--from", at) == (second, third)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "is the first of silver.orders: there is none before it to compare with"),
        (("--from", "yesterday"), "'yesterday' is no snapshot, branch or tag of silver.orders"),
        (("--from", "123456789012"), "silver.orders has no snapshot 123456789012: `lakehouse history"),
        (("--from", "2001-01-01"), "silver.orders cannot be read as of 2001-01-01"),
        (("--from", "main", "--key", "nothing"), "silver.orders cannot be compared by nothing"),
        (("--from", "main", "--partition", "2013-01-01"), "silver.orders has no partitions by a date"),
        (("--key", "id", "--no-key"), "--key and --no-key exclude one another"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(lake: Lake, args: tuple[str, ...], said: str) -> None:
    lake.write_rows(OLD)
    result = run(*args)
    assert result.exit_code == 2
    assert said in result.stderr


def test_an_unknown_table_names_those_that_exist(lake: Lake) -> None:
    lake.write_rows(OLD)
    result = CliRunner().invoke(main, ["diff", "silver.order"])
    assert result.exit_code == 2
    assert result.stderr == "Error: There is no table silver.order. Tables: silver.orders.\n"


def test_deleted_rows_of_another_engine_count(lake: Lake) -> None:
    """A delete file says which rows of a file are gone, though both snapshots have the file."""
    lake.write_rows(OLD)
    table = lake.catalog.load_table(TABLE)
    table.delete("price = 3.0")
    assert diff()["rows"]["removed"] == 1
