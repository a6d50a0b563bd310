"""Quoting: names and values of any kind come back as they are."""

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.storage.sql import identifier, literal, qualified

NAMES = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(NAMES, NAMES)
def test_names_and_values_come_back(name: str, value: str) -> None:
    relation = duckdb.sql(f"select {literal(value)} as {identifier(name)}")
    assert relation.columns == [name]
    assert relation.fetchall() == [(value,)]


def test_a_table_is_quoted_part_by_part() -> None:
    assert qualified('silver.my "table"') == '"silver"."my ""table"""'
