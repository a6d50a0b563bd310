"""Sources whose rows are merged by key: changes and deletions reach Bronze, once."""

from typing import Any

import pytest
from sources import Lake, columns, python_source

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import BronzeSource
from lakehouse.storage.merge import MergeKey

DECLARED = columns(id="integer", name="varchar", version="integer", gone="boolean")
KEY = MergeKey(("id",), cursor="version", deleted="gone")


def changes(*rows: tuple[Any, ...]) -> BronzeSource:
    batch = [dict(zip(("id", "name", "version", "gone"), row, strict=True)) for row in rows]
    return python_source(batch, DECLARED, write_disposition="merge", key=KEY)


def ids(lake: Lake) -> list[tuple[Any, ...]]:
    return [row[:3] for row in lake.read("bronze.t")]


def test_changes_and_deletions_are_merged(lake: Lake) -> None:
    first = lake.load(changes((1, "a", 1, False), (2, "b", 1, False), (2, "c", 2, False)))
    assert first.extracted == {None: 3}
    assert first.result is not None
    assert first.result.rows == 3  # every row of the batch counted, though one outdid another
    assert ids(lake) == [(1, "a", 1), (2, "c", 2)]

    lake.load(changes((1, "a", 2, True), (2, "stale", 1, False), (3, "d", 1, False)))
    assert ids(lake) == [(2, "c", 2), (3, "d", 1)]


def test_a_row_without_its_key_is_quarantined_and_the_others_are_merged(lake: Lake) -> None:
    report = lake.load(changes((None, "x", 1, False), (2, "b", 1, False)))

    assert ids(lake) == [(2, "b", 1)]
    assert (report.extracted, report.quarantined) == ({None: 2}, {None: 1})
    assert lake.read("quarantine.t", "rule, column_name, reason, raw, source_row") == [
        (
            "no_key",
            "id",
            "column id: the row has no id, which is (part of) the key (id)",
            '{"name":"x","version":"1","gone":"false","id":null}',
            1,
        )
    ]


def test_a_batch_whose_rows_all_lack_their_key_is_refused_and_the_next_one_succeeds(lake: Lake) -> None:
    lake.load(changes((1, "a", 1, False)))
    with pytest.raises(SourceError, match="2 rows have no id, which is"):
        lake.load(changes((None, "x", 1, False), (None, "y", 1, False)))
    assert ids(lake) == [(1, "a", 1)]
    lake.load(changes((2, "b", 1, False)))
    assert ids(lake) == [(1, "a", 1), (2, "b", 1)]


@pytest.mark.parametrize(
    "options", [{"write_disposition": "merge"}, {"key": KEY}, {"write_disposition": "append", "key": KEY}]
)
def test_merge_and_key_go_together(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="`merge` needs a key"):
        python_source([], DECLARED, **options)
