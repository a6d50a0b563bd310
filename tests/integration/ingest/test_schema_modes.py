"""What becomes of a column that is new and a value that does not fit: the mode says, and nothing vanishes."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sources import D1, D2, DAILY, Lake, columns, daily_files, python_source

from lakehouse.ingest import load_audit
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.errors import LoadError, SourceError
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.load import load
from lakehouse.ingest.source import BronzeSource, Extraction
from lakehouse.quality.contract import SchemaMode
from lakehouse.settings import Settings

DECLARED = columns(id="integer", amount="decimal(5, 2)")
BAD_ROWS = [
    {"id": 1, "amount": "1.50"},
    {"id": "n/a", "amount": "2.505"},
    {"id": 3, "amount": 1, "extra": "new"},
]
EXIT = 7
SAID = "scope, rule, column_name, value, raw, source_row"
as_rows: Callable[[list[Any]], list[Any]] = list


def as_table(rows: list[Any]) -> list[Any]:
    names = dict.fromkeys(name for row in rows for name in row)
    texts = {name: [None if name not in row else str(row[name]) for row in rows] for name in names}
    return [pa.table(texts)]


def source(rows: list[Any], mode: SchemaMode, **options: Any) -> BronzeSource:
    return python_source(rows, DECLARED, schema_mode=mode, **options)


def daily(mode: SchemaMode) -> BronzeSource:
    return BronzeSource("daily", DAILY.columns, daily_files, "*.csv", partition_by="d", schema_mode=mode)


def aside(lake: Lake, name: str = "quarantine.t", selected: str = SAID) -> list[tuple[Any, ...]]:
    return lake.read(name, selected)


@pytest.mark.parametrize("form", [as_rows, as_table])
def test_discard_row_sets_the_whole_row_aside(lake: Lake, form: Callable[[list[Any]], list[Any]]) -> None:
    report = lake.load(source(form(BAD_ROWS), "discard_row"))

    assert lake.read("bronze.t", "id, amount::varchar") == [(1, "1.50")]
    assert lake.columns("bronze.t")[:2] == ["id", "amount"]
    assert "extra" not in lake.columns("bronze.t")
    assert (report.extracted, report.quarantined, report.discarded) == ({None: 3}, {None: 2}, {})
    raws = {row[5]: row[4] for row in aside(lake)}
    assert '"id":"n/a"' in raws[2]
    assert '"amount":"2.505"' in raws[2]
    assert [row[:4] for row in aside(lake)] == [
        ("row", "new_column", "extra", "new"),
        ("row", "type", "id", "n/a"),
    ]
    [(reason,)] = aside(lake, selected="reason")[:1]
    assert reason.startswith("column extra: new comes in a column that neither")
    assert "column amount: 2.505 has more digits than decimal(5, 2)" in str(aside(lake, selected="reason"))
    told = "count(distinct load_id), count(run_id), count(quarantined_at), any_value(source_file)"
    assert aside(lake, selected=told) == [(1, 2, 2, "python:t")]


@pytest.mark.parametrize("form", [as_rows, as_table])
def test_discard_value_loads_the_row_with_null(lake: Lake, form: Callable[[list[Any]], list[Any]]) -> None:
    report = lake.load(source(form(BAD_ROWS), "discard_value"))

    assert lake.read("bronze.t", "id, amount::varchar") == [(1, "1.50"), (3, "1.00"), (None, None)]
    assert "extra" not in lake.columns("bronze.t")
    assert (report.extracted, report.quarantined, report.discarded) == ({None: 3}, {}, {None: 3})
    assert [(*row[:4], row[5]) for row in aside(lake)] == [
        ("value", "new_column", "extra", "new", 3),
        ("value", "type", "amount", "2.505", 2),
        ("value", "type", "id", "n/a", 2),
    ]


def test_freeze_takes_no_new_column_and_evolve_no_value_that_does_not_fit(lake: Lake) -> None:
    lake.load(source(BAD_ROWS[:1], "freeze"))
    before = lake.read("bronze.t")
    with pytest.raises(SourceError, match=r"brings the new column 'extra', and bronze\.t is frozen"):
        lake.load(source([BAD_ROWS[2]], "freeze"))
    with pytest.raises(SourceError, match="row 1, column id: 'n/a' is no integer"):
        lake.load(source([BAD_ROWS[1]], "freeze"))
    with pytest.raises(SourceError, match="row 1, column id: 'n/a' is no integer"):
        lake.load(source([BAD_ROWS[1]], "evolve"))
    assert lake.read("bronze.t") == before
    lake.load(source([BAD_ROWS[2]], "evolve"))
    assert lake.read("bronze.t", "id, extra") == [(3, "new")]


def test_a_column_the_table_has_is_not_new_and_keeps_its_type(lake: Lake) -> None:
    lake.load(source([{"id": 1, "amount": 1, "extra": 5}], "evolve", write_disposition="append"))
    with pytest.raises(SourceError, match="row 1, column extra: 'n/a' is no bigint"):
        lake.load(source([{"id": 2, "amount": 1, "extra": "n/a"}], "evolve", write_disposition="append"))
    lake.load(source([{"id": 2, "amount": 1, "extra": 6}], "freeze", write_disposition="append"))
    lake.load(source([{"id": 3, "amount": 1, "extra": "n/a"}], "discard_value", write_disposition="append"))

    assert lake.read("bronze.t", "id, extra") == [(1, 5), (2, 6), (3, None)]
    assert [row[:4] for row in aside(lake)] == [("value", "type", "extra", "n/a")]


def test_a_name_that_collides_is_set_aside(lake: Lake) -> None:
    lake.load(source([{"id": 1, "ID": 2, "amount": 1}], "discard_value"))

    assert lake.read("bronze.t", "id") == [(1,)]
    assert [row[:4] for row in aside(lake)] == [("value", "name_collision", "ID", "2")]


BAD_FILE = f"{D1},1,a\n{D1},n/a,b\n{D1},3\nNA,4,d\n{D1},5,e,f\n{D1},6,g\n"


@pytest.mark.parametrize(
    ("mode", "loaded", "rows_aside"),
    [
        ("discard_row", [(1, "a"), (6, "g")], 4),
        ("discard_value", [(1, "a"), (6, "g"), (None, "b")], 3),
    ],
)
def test_lines_and_values_of_a_file_are_set_aside(
    lake: Lake, mode: SchemaMode, loaded: list[Any], rows_aside: int
) -> None:
    lake.write_day(D1, BAD_FILE)
    lake.write_day(D2, f"{D2},7,h\n")
    report = lake.load(daily(mode), [D1, D2])

    assert report.failures == {}
    assert report.extracted == {D1: 6, D2: 1}
    assert report.quarantined == {D1: rows_aside}
    assert sorted(map(str, lake.read("bronze.daily", "id, name"))) == sorted(map(str, [*loaded, (7, "h")]))
    found = {(row[1], row[2], row[3]) for row in aside(lake, "quarantine.daily")}
    assert found == {("type", "id", "n/a"), ("unreadable", None, None), ("no_key", "d", None)}
    lines = lake.read("quarantine.daily", "raw, source_row, partition, source_file")
    assert (f"{D1},3", 4, D1, f"{D1}.csv") in lines
    assert (f"{D1},5,e,f", 6, D1, f"{D1}.csv") in lines


def test_what_is_set_aside_of_a_file_says_its_line(lake: Lake) -> None:
    lake.write_day(D1, f'{D1},1,"a\nb"\n\n{D1},n/a,c\n{D1},3\n{D1},n/a,"e\nf"\n{D1},n/a,g\n')
    report = lake.load(daily("discard_row"), [D1])

    assert report.quarantined == {D1: 4}
    assert lake.read("bronze.daily", "id, name") == [(1, "a\nb")]
    lines = lake.read("quarantine.daily", "source_row, rule, value")
    assert sorted(map(str, lines)) == [
        "(5, 'type', 'n/a')",
        "(6, 'unreadable', None)",
        "(7, 'type', 'n/a')",
        "(9, 'type', 'n/a')",
    ]


def test_what_is_not_utf8_is_kept_byte_for_byte(lake: Lake) -> None:
    lake.write_day(D1, f"{D1},1,a\n")
    file = lake.settings.source_dir / f"{D1}.csv"
    file.write_bytes(file.read_bytes() + f"\n{D1},2,café\n".encode("latin-1"))
    lake.load(daily("discard_row"), [D1])

    assert lake.read("quarantine.daily", "raw, source_row") == [(f"{D1},2,caf\\xe9", 4)]


def daily_json(mode: SchemaMode) -> BronzeSource:
    def extract(extraction: Extraction) -> Iterator[Any]:
        yield from read_ndjson(extraction, extraction.settings.source_dir / f"{extraction.partition}.ndjson")

    return BronzeSource("daily", DAILY.columns, extract, "*.ndjson", partition_by="d", schema_mode=mode)


BAD_LINES = f"""{{"d": "{D1}", "id": 1, "name": "a"}}
{{"d": "{D1}", "id": "2", "name": "b"}}

{{"d": "{D1}", "id":
{{"d": null, "id": 4, "name": "d"}}
[5]
{{"d": "{D1}", "id": 6, "name": "f", "gate": "B5", "Name": "F"}}
{{"d": "{D1}", "id": 7, "name": null, "gate": null}}
"""


def test_lines_and_values_of_json_are_set_aside(lake: Lake) -> None:
    lake.settings.source_dir.mkdir(parents=True)
    (lake.settings.source_dir / f"{D1}.ndjson").write_text(BAD_LINES)
    report = lake.load(daily_json("discard_row"), [D1])

    assert (report.failures, report.extracted, report.quarantined) == ({}, {D1: 7}, {D1: 5})
    assert lake.read("bronze.daily", "id, name") == [(1, "a"), (7, None)]
    told = {row[5]: (row[1], row[2], row[3]) for row in aside(lake, "quarantine.daily")}
    assert told.pop(7) in [("new_column", "gate", '"B5"'), ("unreadable", None, None)]
    assert told == {
        2: ("type", "id", '"2"'),
        4: ("unreadable", None, None),
        5: ("no_key", "d", None),
        6: ("unreadable", None, None),
    }
    said = lake.read("quarantine.daily", "source_row, reason, raw")
    assert (6, "is a list, not an object: each line is one row", "[5]") in said
    reason = 'column id: "2" is text, but the column is declared integer'
    assert (2, reason, BAD_LINES.splitlines()[1]) in said


def test_values_of_json_are_set_aside(lake: Lake) -> None:
    lake.settings.source_dir.mkdir(parents=True)
    good = "".join(
        line + "\n" for line in BAD_LINES.splitlines() if line.startswith('{"d": "2013-01-01", "id": ')
    )
    (lake.settings.source_dir / f"{D1}.ndjson").write_text(good.replace(', "Name": "F"', ""))
    report = lake.load(daily_json("discard_value"), [D1])

    assert (report.failures, report.quarantined, report.discarded) == ({}, {}, {D1: 2})
    assert lake.read("bronze.daily", "id, name") == [(1, "a"), (6, "f"), (7, None), (None, "b")]
    assert [row[1:4] for row in aside(lake, "quarantine.daily")] == [
        ("new_column", "gate", '"B5"'),
        ("type", "id", '"2"'),
    ]


def test_a_json_line_without_its_day_is_set_aside_and_a_misfit_named(lake: Lake) -> None:
    lake.settings.source_dir.mkdir(parents=True)
    lines = BAD_LINES.splitlines()
    (lake.settings.source_dir / f"{D1}.ndjson").write_text("\n".join([lines[0], lines[4]]))
    (lake.settings.source_dir / f"{D2}.ndjson").write_text("\n".join([lines[4], "", lines[1]]))
    report = lake.load(daily_json("evolve"), [D1, D2])

    assert report.quarantined == {D1: 1}
    assert 'line 3, column id: "2" is text, but' in report.failures[D2]
    assert [row[:3] for row in aside(lake, "quarantine.daily")] == [("row", "no_key", "d")]


def test_a_row_without_its_day_is_set_aside_in_every_mode_and_all_are_refused(lake: Lake) -> None:
    lake.write_day(D1, f"{D1},1,a\nNA,2,b\n")
    lake.write_day(D2, "NA,2,b\n")
    report = lake.load(DAILY, [D1, D2])

    assert (report.quarantined, list(report.failures)) == ({D1: 1}, [D2])
    assert "1 rows have no d, the column that says" in report.failures[D2]
    assert [row[:3] for row in aside(lake, "quarantine.daily")] == [("row", "no_key", "d")]


def test_loading_again_does_not_count_twice_and_a_corrected_file_leaves_nothing(lake: Lake) -> None:
    for day in (D1, D2):
        lake.write_day(day, f"{day},1,a\n{day},n/a,b\n")
    lake.load(daily("discard_row"), [D1, D2])
    lake.load(daily("discard_row"), [D1, D2])
    assert aside(lake, "quarantine.daily", "partition, value") == [(D1, "n/a"), (D2, "n/a")]

    lake.write_day(D1, f"{D1},1,a\n{D1},2,b\n")
    lake.load(daily("discard_row"), [D1])
    assert aside(lake, "quarantine.daily", "partition, value") == [(D2, "n/a")]
    assert lake.snapshots("bronze.daily") == 3


def test_a_partition_of_which_all_is_set_aside_is_empty(lake: Lake) -> None:
    lake.write_day(D1, f"{D1},n/a,b\n")
    report = lake.load(daily("discard_row"), [D1])

    assert (report.extracted, report.quarantined) == ({D1: 1}, {D1: 1})
    assert report.result is not None
    assert report.result.partitions == {D1: 0}
    assert aside(lake, "quarantine.daily", "value") == [("n/a",)]
    with pytest.raises(LoadError, match="gave no rows that fit, which would empty the table"):
        lake.load(source([{"id": 1, "amount": 1}], "evolve"))
        lake.load(source([{"id": "n/a", "amount": 1}], "discard_row"))


def load_and_die(folder: Path, disposition: str) -> None:
    """Load what is set aside in part, and end between the quarantine's commit and the table's."""
    load_audit.reconcile = lambda *_: os._exit(EXIT)
    load(source(BAD_ROWS, "discard_row", write_disposition=disposition), Settings(data_dir=folder))


@pytest.mark.parametrize("disposition", ["append", "replace"])
def test_a_crash_before_the_tables_commit_loses_nothing_and_the_redo_counts_once(
    lake: Lake, disposition: str
) -> None:
    bad = source(BAD_ROWS, "discard_row", write_disposition=disposition)
    good = source(BAD_ROWS[:1], "discard_row", write_disposition=disposition)
    lake.load(good)
    process = multiprocessing.get_context("spawn").Process(
        target=load_and_die, args=(lake.settings.data_dir, disposition)
    )
    process.start()
    process.join(60)
    assert process.exitcode == EXIT
    assert len(lake.read("bronze.t")) == 1
    assert len(aside(lake)) == 2
    report = lake.load(bad)

    assert report.quarantined == {None: 2}
    assert [row[3] for row in aside(lake)] == ["new", "n/a"]
    assert aside(lake, selected="distinct load_id") == [(report.load_id,)]


def test_what_appends_set_aside_stays(lake: Lake) -> None:
    for _ in range(2):
        lake.load(source(BAD_ROWS, "discard_row", write_disposition="append"))

    assert len(lake.read("bronze.t")) == 2
    assert len(aside(lake)) == 4


def test_the_contract_says_the_mode(lake: Lake, tmp_path: Path) -> None:
    contract = tmp_path / "bronze" / "t.yml"
    contract.parent.mkdir()
    written = (
        "dataset: lakehouse/bronze/t\nversion: '1.0.0'\nowner: me\ntier: 3\nschema_mode: discard_row\n"
        "gates: {good_rows_percent: 0}\ncolumns:\n- {name: id, data_type: integer}\n"
        "- {name: amount, data_type: 'decimal(5, 2)'}\n"
    )
    contract.write_text(written)
    lake.load(python_source(BAD_ROWS, read_columns(contract)))
    assert len(aside(lake)) == 2
    contract.write_text(written.replace("discard_row", "drop"))
    with pytest.raises(ValueError, match="schema_mode is 'drop'; known are evolve, freeze, discard_value"):
        read_columns(contract)


def test_two_days_of_a_load_do_not_give_a_new_column_two_types(lake: Lake) -> None:
    rows = {D1: [{"d": D1, "x": 1}], D2: [{"d": D2, "x": "n/a"}]}
    new = python_source(lambda extraction: rows[extraction.partition], columns(d="date"), partition_by="d")
    report = lake.load(new, [D1, D2])

    assert list(report.failures) == [D2]
    assert "row 1, column x: 'n/a' is no bigint" in report.failures[D2]
    assert lake.read("bronze.t", "d, x") == [(D1, 1)]
