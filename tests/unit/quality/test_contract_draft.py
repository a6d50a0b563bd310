"""How a drafted contract is written: texts as YAML, and what a name suggests."""

from pathlib import Path

import pytest
import yaml

from lakehouse.quality.draft_columns import described, scalar
from lakehouse.quality.draft_file import write_draft
from lakehouse.quality.errors import ContractError
from lakehouse.quality.pii_names import suggested_pii

ODD = ["no", "NULL", "1e3", "08", "", " a", "a, b", "a: b", "a #b", "[a]", "it's", 'say "a"', "é\x85", "a\nb"]


@pytest.mark.parametrize("text", [*ODD, "America/New_York", "two words", "not-null"])
def test_a_text_stays_one(text: str) -> None:
    assert yaml.safe_load(f"[{scalar(text)}, x]") == [text, "x"]


def test_plain_words_need_no_quotes() -> None:
    assert [scalar(text) for text in ("EWR", "America/New_York", "two words")] == [
        "EWR",
        "America/New_York",
        "two words",
    ]


@pytest.mark.parametrize(
    "text", ["Short.", "A: b.", "a - b # c", "- a", "long " * 60 + "# end: 'x'", "% a", "no"]
)
def test_a_description_stays_one(text: str) -> None:
    lines = [*described(text, "  ")]

    assert max(map(len, lines)) <= 110
    assert yaml.safe_load("\n".join(lines)) == {"description": text}


def test_a_description_that_nobody_wrote_is_to_do() -> None:
    assert [*described("", "  ")] == ["  description: TODO"]


@pytest.mark.parametrize(
    ("column", "suggested"),
    [
        ("email", "personal"),
        ("contact_Email", "personal"),
        ("firstName", "personal"),
        ("homePhone2", "personal"),
        ("passport_no", "sensitive"),
        ("carrier", None),
        ("shipping", None),
        ("filename", None),
    ],
)
def test_the_class_that_a_name_suggests(column: str, suggested: str | None) -> None:
    assert suggested_pii(column) == suggested


def test_what_somebody_else_wrote_meanwhile_stays(tmp_path: Path) -> None:
    (file := tmp_path / "t.yml").write_text("theirs")

    with pytest.raises(ContractError, match=r"t\.yml is there already and stays as it is"):
        write_draft(file, "ours")

    assert file.read_text() == "theirs" and [*tmp_path.iterdir()] == [file]
