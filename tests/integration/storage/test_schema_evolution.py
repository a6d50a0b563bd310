"""How a table's columns follow its rows, proved on old and new files and in both engines."""

from decimal import Decimal

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FixedType,
    IntegerType,
    LongType,
    NestedField,
)
from store import D1, D2, D3, Store

from lakehouse.storage.errors import SchemaConflictError, UnsupportedTypeError
from lakehouse.storage.scan import scan


def day(date: str, columns: str) -> str:
    return f"select date '2013-01-{date}' as d, {columns}"


def test_a_new_column_is_null_in_old_rows(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as x"), [D1])
    store.overwrite("silver.t", day("02", "2 as x, 'new' as y"), [D2])

    assert store.read("silver.t", "d, x, y") == [(D1, 1, None), (D2, 2, "new")]


def test_a_new_column_exists_even_if_it_came_without_rows(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as x"), [D1])
    result = store.overwrite("silver.t", day("02", "2 as x, 'new' as y") + " where false", [D2])

    assert store.read("silver.t", "d, x, y") == [(D1, 1, None)]
    assert store.snapshots("silver.t") == 2
    assert result.snapshot_id == store.table("silver.t").metadata.current_snapshot_id


def test_a_missing_column_is_null_in_new_rows(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as x, 'old' as y"), [D1])
    store.overwrite("silver.t", day("02", "2 as x"), [D2])

    assert store.read("silver.t", "d, x, y") == [(D1, 1, "old"), (D2, 2, None)]


@pytest.mark.parametrize(
    ("narrow", "wide", "kind"),
    [
        ("7::integer", "5000000000::bigint", LongType()),
        ("7::smallint", "5000000000::bigint", LongType()),
        ("0.5::float", "1e300::double", DoubleType()),
        ("1.25::decimal(5, 2)", "1234567.25::decimal(12, 2)", DecimalType(12, 2)),
    ],
)
def test_a_column_widens_and_a_narrower_one_is_cast_up(
    store: Store, narrow: str, wide: str, kind: object
) -> None:
    store.overwrite("silver.t", day("01", f"{narrow} as x"), [D1])
    store.overwrite("silver.t", day("02", f"{wide} as x"), [D2])
    store.overwrite("silver.t", day("03", f"{narrow} as x"), [D3])

    assert store.table("silver.t").schema().find_type("x") == kind
    values = [row[0] for row in store.read("silver.t", "x")]
    expected = store.connection.execute(f"select {narrow}, {wide}, {narrow}").fetchall()[0]
    assert sorted(values) == sorted(expected)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1", "'n/a'", r"silver\.t\.x is int, but the new rows bring string"),
        ("'text'", "1", r"silver\.t\.x is string, but the new rows bring int"),
        ("1.5::decimal(5, 2)", "1.5::decimal(9, 4)", r"silver\.t\.x is decimal\(5, 2\), .* decimal\(9, 4\)"),
        ("1::bigint", "1.5::double", r"silver\.t\.x is long, but the new rows bring double"),
        ("{'a': 1}", "{'a': 'text'}", r"silver\.t\.x\.a is int, but the new rows bring string"),
        ("{'a': 1.5::decimal(5, 2)}", "{'a': 1.5::decimal(9, 4)}", r"silver\.t\.x\.a is decimal\(5, 2\)"),
        ("[1]", "['text']", r"silver\.t\.x\[\] is int, but the new rows bring string"),
        ("[{'a': 1}]", "[{'a': 'text'}]", r"silver\.t\.x\[\]\.a is int"),
        ("map {'k': 1}", "map {'k': 'text'}", r"silver\.t\.x \(values\) is int"),
        ("map {'k': 1}", "map {1: 1}", r"silver\.t\.x \(keys\) is string"),
        ("{'a': 1}", "[1]", r"silver\.t\.x is struct"),
        ("date '2013-01-01'", "timestamp '2013-01-01 10:00'", r"silver\.t\.x is date"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(store: Store, old: str, new: str, message: str) -> None:
    store.overwrite("silver.t", day("01", f"{old} as x"), [D1])
    before = store.read("silver.t")
    with pytest.raises(SchemaConflictError, match=message):
        store.overwrite("silver.t", day("02", f"{new} as x"), [D2])

    assert store.read("silver.t") == before
    assert store.unreferenced_files() == []


def test_names_that_differ_by_case_alone_are_refused(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as amount"), [D1])
    with pytest.raises(SchemaConflictError, match=r"has a column amount; the new rows bring Amount"):
        store.overwrite("silver.t", day("02", "2 as Amount"), [D2])
    with pytest.raises(SchemaConflictError, match=r"has a column amount; the new rows bring AMOUNT"):
        store.replace("silver.t", day("02", "2 as AMOUNT"), "d")


def test_replace_gives_the_table_the_new_columns(store: Store) -> None:
    store.replace("gold.t", "select 1 as x, 'a' as gone")
    store.replace("gold.t", "select 'text' as x, 2 as added")

    assert store.read("gold.t", "x, added") == [("text", 2)]
    assert set(store.table("gold.t").schema().column_names) == {"x", "added"}


def test_a_column_dropped_and_added_again_never_shows_its_old_values(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as x, 'old' as y"), [D1])
    old = store.table("silver.t").schema().find_field("y").field_id
    store.replace("silver.t", day("01", "1 as x"), "d")
    store.overwrite("silver.t", day("02", "2 as x, 'new' as y"), [D2])

    assert store.table("silver.t").schema().find_field("y").field_id != old
    assert store.read("silver.t", "d, x, y") == [(D1, 1, None), (D2, 2, "new")]
    first = store.table("silver.t").metadata.snapshots[0].snapshot_id
    past = store.table("silver.t").scan(snapshot_id=first).to_arrow().to_pylist()
    assert past == [{"d": D1, "x": 1, "y": "old"}]


def test_both_engines_agree_on_files_from_before_and_after_every_change(store: Store) -> None:
    store.overwrite("silver.t", day("01", "1 as x, {'a': 1} as s, [1] as l, map {'k': 1} as m"), [D1])
    grown = "2::bigint as x, {'b': 'b', 'a': 2::bigint} as s, [2::bigint] as l, map {'k': 2::bigint} as m"
    store.overwrite("silver.t", day("02", f"{grown}, 'new' as y"), [D2])
    store.overwrite("silver.t", day("03", "3 as x, {'a': 3} as s"), [D3])

    assert store.read("silver.t", "x, s.a, s.b, l, map_extract_value(m::map(varchar, bigint), 'k'), y") == [
        (1, 1, None, [1], 1, None),
        (2, 2, "b", [2], 2, "new"),
        (3, 3, None, None, None, None),
    ]


def test_replacing_nested_columns_by_the_same_changes_no_schema(store: Store) -> None:
    sql = "select {'a': 1, 'b': [{'c': 'x'}]} as s, map {'k': [1]} as m, 1 as x"
    store.replace("gold.t", sql)
    store.replace("gold.t", sql)

    assert len(store.table("gold.t").metadata.schemas) == 1
    assert [field.name for field in store.table("gold.t").schema().fields] == ["s", "m", "x"]


def test_replacing_a_struct_drops_the_field_it_lost(store: Store) -> None:
    store.replace("gold.t", "select {'a': 1, 'b': 'old'} as s")
    store.replace("gold.t", "select {'a': 2} as s")
    store.replace("gold.t", "select {'a': 3, 'b': null::varchar} as s")

    assert store.read("gold.t", "s.a, s.b") == [(3, None)]


def test_the_partition_column_cannot_be_replaced_away(store: Store) -> None:
    store.replace("gold.t", day("01", "1 as x"), "d")
    with pytest.raises(SchemaConflictError, match=r"gold\.t is or was partitioned by d"):
        store.replace("gold.t", "select 1 as x")

    assert store.read("gold.t") == [(D1, 1)]


ROUND_TRIP = [
    ("true", True),
    ("1::tinyint", 1),
    ("(-32768)::smallint", -32768),
    ("2147483647::integer", 2147483647),
    ("(-9223372036854775808)::bigint", -(2**63)),
    ("255::utinyint", 255),
    ("65535::usmallint", 65535),
    ("4294967295::uinteger", 2**32 - 1),
    ("18446744073709551615::ubigint", Decimal(2**64 - 1)),
    ("sum(10::hugeint)", Decimal(10)),
    ("sum(9223372036854775807)", Decimal(2**63 - 1)),
    ("0.5::float", 0.5),
    ("'-inf'::double", float("-inf")),
    ("12.3456::decimal(38, 4)", Decimal("12.3456")),
    ("'größe'::varchar", "größe"),
    ("'a'::enum('a', 'b')", "a"),
    ("""'{"a": 1}'::json""", '{"a": 1}'),
    (r"'\x00\xff'::blob", b"\x00\xff"),
    ("date '0001-01-01'", "0001-01-01"),
    ("time '23:59:59.123456'", "23:59:59.123456"),
    ("timestamp '2013-03-10 02:30:00.000001'", "2013-03-10 02:30:00.000001"),
    ("timestamp_s '2013-03-10 02:30:00'", "2013-03-10 02:30:00"),
    ("timestamp_ms '2013-03-10 02:30:00.123'", "2013-03-10 02:30:00.123000"),
    ("timestamptz '2013-03-10 02:30:00-05:00'", "2013-03-10 07:30:00+00:00"),
    ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("null", None),
    ("[1, null, 3]", [1, None, 3]),
    ("[1, 2]::integer[2]", [1, 2]),
    ("{'a': {'b': [1]}}", {"a": {"b": [1]}}),
    ("[map {'k': {'v': 1}}]", [{"k": {"v": 1}}]),
]


def test_every_type_comes_back(store: Store) -> None:
    columns = ", ".join(f"{sql} as c{i}" for i, (sql, _) in enumerate(ROUND_TRIP))
    result = store.replace("gold.t", f"select {columns}")

    values = store.connection.execute(scan(result.metadata_location, result.snapshot_id)).fetchall()[0]
    for (sql, expected), value in zip(ROUND_TRIP, values, strict=True):
        as_read = str(value) if isinstance(expected, str) else value
        assert as_read == expected, sql
    by_pyiceberg = store.table("gold.t").scan().to_arrow().to_pylist()[0]
    assert by_pyiceberg["c28"] == {"a": {"b": [1]}}
    assert by_pyiceberg["c8"] == Decimal(2**64 - 1)


@pytest.mark.parametrize(
    "sql",
    [
        "interval 1 day",
        "timestamp_ns '2013-01-01 00:00:00.123456789'",
        "timetz '10:00:00+02'",
        "'101'::bit",
        "1::uhugeint",
        "[interval 1 day]",
        "{'inner': interval 1 day}",
    ],
)
def test_an_unsupported_type_is_refused_by_column(store: Store, sql: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"Column odd\S* has type .*, which Iceberg cannot hold"):
        store.replace("gold.t", f"select 1 as x, {sql} as odd")

    assert not store.exists("gold.t")


def test_a_sum_too_long_for_a_decimal_fails_by_value(store: Store) -> None:
    with pytest.raises(Exception, match="999999999999999999999999999999999999999"):
        store.replace("gold.t", "select 999999999999999999999999999999999999999::hugeint * 1 as x")
    assert not store.exists("gold.t")


def test_a_type_of_another_tools_making_is_refused_by_column(store: Store) -> None:
    store.catalog.create_namespace("silver")
    schema = Schema(NestedField(1, "x", IntegerType()), NestedField(2, "odd", FixedType(4)))
    store.catalog.create_table("silver.t", schema)
    with pytest.raises(
        UnsupportedTypeError, match=r"Column odd of the table has type fixed\[4\], which DuckDB"
    ):
        store.append("silver.t", "select 1 as x", "1")
    assert store.snapshots("silver.t") == 0
