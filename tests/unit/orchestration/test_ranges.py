"""Ranges of partitions: what lies between two of them is in neither."""

import pytest

from lakehouse.orchestration.ranges import unbroken

KEYS = list("abcdefgh")


@pytest.mark.parametrize(
    ("wanted", "at_most", "ranges"),
    [
        ("", None, []),
        ("c", None, [("c", "c")]),
        ("cab", None, [("a", "c")]),
        ("abdegh", None, [("a", "b"), ("d", "e"), ("g", "h")]),
        ("abcdefgh", 3, [("a", "c"), ("d", "f"), ("g", "h")]),
        ("abdef", 2, [("a", "b"), ("d", "e"), ("f", "f")]),
        ("abc", 1, [("a", "a"), ("b", "b"), ("c", "c")]),
    ],
)
def test_ranges_are_unbroken_and_no_longer_than_asked(
    wanted: str, at_most: int | None, ranges: list[tuple[str, str]]
) -> None:
    assert list(unbroken(KEYS, wanted, at_most)) == ranges


def test_an_unknown_partition_is_refused() -> None:
    with pytest.raises(KeyError):
        list(unbroken(KEYS, "az"))
