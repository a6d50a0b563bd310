"""Columns and sources that are wrong are refused when they are declared, not in the night."""

from datetime import date
from pathlib import Path

import pytest

from lakehouse.ingest.columns import Column, read_columns
from lakehouse.ingest.load_audit import reconcile
from lakehouse.ingest.source import BronzeSource
from lakehouse.quality.errors import ContractError
from lakehouse.storage.staging import StagedFile

D1, D2 = date(2013, 1, 1), date(2013, 1, 2)


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="Column id has the unknown type 'int4'; known are boolean"):
        Column("id", "int4")


def test_a_naive_time_stays_naive_and_a_zoned_one_zoned() -> None:
    assert Column("at", "timestamp").dlt_hint()["timezone"] is False
    assert Column("at", "timestamptz").dlt_hint()["timezone"] is True


def test_columns_come_from_the_contract_in_its_order(tmp_path: Path) -> None:
    contract = tmp_path / "bronze" / "t.yml"
    contract.parent.mkdir()
    contract.write_text(
        "dataset: lakehouse/bronze/t\nversion: '1.0.0'\nowner: me\ntier: 3\n"
        "columns:\n- {name: b, data_type: 'decimal(5, 2)'}\n- {name: a, data_type: integer}\n"
    )

    assert read_columns(contract) == (Column("b", "decimal(5, 2)"), Column("a", "integer"))
    with pytest.raises(ContractError, match=r"bronze\.u has no contract\. Write .*u\.yml"):
        read_columns(contract.with_name("u.yml"))


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ([Column("x", "date")], {"partition_by": "d"}, "the partition column d is not a declared column"),
        ([Column("d", "date")], {"partition_by": "d", "write_disposition": "append"}, "replaces itself"),
        ([Column("_load_id", "varchar")], {}, "_load_id are added by the load"),
    ],
)
def test_a_source_that_cannot_work_is_refused(
    columns: list[Column], options: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=f"bronze.t: .*{message}"):
        BronzeSource("t", tuple(columns), lambda _: iter(()), "origin", **options)


def test_reconciliation_names_what_was_lost_or_gained() -> None:
    files = [StagedFile("a", 2, D1), StagedFile("b", 1, D1), StagedFile("c", 9, D2)]

    assert reconcile({D1: 3, D2: 9}, files) == {}
    assert reconcile({D1: 4, D2: 9}, files) == {D1: "4 rows came from the source, but 3 were staged"}
    assert reconcile({D1: 3, D2: 8}, files) == {D2: "8 rows came from the source, but 9 were staged"}
    assert reconcile({None: 5}, [StagedFile("a", 4)]) == {
        None: "5 rows came from the source, but 4 were staged"
    }
