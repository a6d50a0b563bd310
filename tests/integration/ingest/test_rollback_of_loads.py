"""A load, or a replay, that is undone: its rows are where they were before it, and can come again."""

from pathlib import Path

from replay_sources import adding, aside, contract, replayed, row, sold
from sources import Lake

from lakehouse.rollback import carry_out, plan
from lakehouse.storage.tables import load_table

BATCH = row(1, "1"), row(2, "20"), row(3, "30")


def set_back(lake: Lake, to: int) -> None:
    for _ in carry_out(lake.settings, plan(lake.settings, "bronze.t", str(to)), "a test"):
        pass


def current(lake: Lake) -> int:
    table = load_table(lake.catalog, "bronze.t")
    assert table is not None
    return table.metadata.current_snapshot_id or 0


def test_rows_of_an_undone_replay_are_in_quarantine_again(lake: Lake, tmp_path: Path) -> None:
    lake.load(adding(contract(tmp_path), *BATCH))
    before, held = current(lake), aside(lake)
    mended = adding(contract(tmp_path, most=100))
    replayed(lake, mended)
    assert [key for key, *_ in sold(lake)] == [1, 2, 3]
    assert aside(lake) == []

    set_back(lake, before)
    assert [key for key, *_ in sold(lake)] == [1]
    assert aside(lake) == held

    replayed(lake, mended)
    assert [key for key, *_ in sold(lake)] == [1, 2, 3]
    assert aside(lake) == []


def test_a_rollback_that_died_before_the_table_is_done_again(lake: Lake, tmp_path: Path) -> None:
    lake.load(adding(contract(tmp_path), *BATCH))
    before, held = current(lake), aside(lake)
    mended = adding(contract(tmp_path, most=100))
    replayed(lake, mended)
    from lakehouse.quality.restore import restore_quarantine
    from lakehouse.storage import duckdb_session

    planned = plan(lake.settings, "bronze.t", str(before))
    connection = duckdb_session.connect(lake.settings)
    assert restore_quarantine(lake.catalog, connection, "bronze.t", planned.moment, 100) == len(held)
    # The replay is still held: it is settled, and nothing counts twice.
    replayed(lake, mended)
    assert [key for key, *_ in sold(lake)] == [1, 2, 3]
    assert aside(lake) == []

    set_back(lake, before)
    set_back(lake, before)
    assert aside(lake) == held
