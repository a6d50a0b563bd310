"""The columns of a drafted contract, as lines of YAML that a person goes on with."""

import re
import textwrap
from collections.abc import Iterator, Mapping

from lakehouse.quality.pii_names import suggested_pii
from lakehouse.quality.table_profile import ColumnProfile, TableProfile
from lakehouse.quality.todo import TODO

_WIDTH = 110
# Texts that need no quotes: in a list of values, and alone on a line.
_IN_A_LIST = re.compile(r"[A-Za-z_][\w/-]*( [\w/-]+)*", re.ASCII)
_IN_A_LINE = re.compile(r"\w([^:#\n]|:(?=\S))*")


def column_lines(
    column: ColumnProfile, profile: TableProfile, descriptions: Mapping[str, str], unique: str | None
) -> Iterator[str]:
    """A column with what its rows show, and what its name suggests as a comment.

    Args:
        descriptions: by name, where somebody gave one.
        unique: what to say beside the check that it is; None: it is not to be checked.
    """
    yield f"  - name: {scalar(column.name)}{' # the partition' * (column.name == profile.partition_by)}"
    yield f"    data_type: {scalar(column.type, _IN_A_LINE)}"
    yield from described(descriptions.get(column.name, ""), "    ")
    if column.type == "timestamptz" and profile.table.startswith("bronze."):
        yield "    # zone: America/New_York # where the times of the source name none"
    if profile.rows and not column.nulls:
        yield "    nullable: false"
    elif column.nulls == profile.rows and profile.rows:
        yield "    # null in every row so far"
    if suggested := suggested_pii(column.name):
        yield f"    # pii: {suggested} # if the name says what it is; its values are masked then"
    checks = [*_unique_lines(unique), *_values_lines(column, profile)]
    if checks:
        yield "    checks:"
        yield from checks


def described(description: str, indent: str) -> Iterator[str]:
    """A description, over several lines if it is long."""
    text = " ".join(description.split()) or TODO
    line = f"{indent}description: {scalar(text, _IN_A_LINE)}"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{indent}description: >-"
    inner = f"{indent}  "
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=inner,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    )


def scalar(value: str, plain: re.Pattern[str] = _IN_A_LIST) -> str:
    """A text as YAML, in quotes where it might be read as something else."""
    import yaml

    if plain.fullmatch(value) and yaml.safe_load(value) == value:
        return value
    return yaml.safe_dump(value, default_style='"', width=10**9, allow_unicode=True).removesuffix("\n")


def _unique_lines(note: str | None) -> Iterator[str]:
    if note is not None:
        yield f"      - duplicate: # {note}"


def _values_lines(column: ColumnProfile, profile: TableProfile) -> Iterator[str]:
    """That the values are those of today: a warning, for tomorrow may rightly bring another."""
    if not column.values:
        return
    yield "      - invalid:"
    yield f"          name: {scalar(f'no other {column.name} than so far')}"
    label, names = _label(column), [other.name for other in profile.columns]
    if [_label(other) for other in profile.columns].count(label) > 1:
        yield f"          qualifier: column_{names.index(column.name) + 1}"
    values = [scalar(value) for value in column.values]
    line = f"          valid_values: [{', '.join(values)}]"
    yield from [line] if len(line) <= _WIDTH else _block(values)
    yield "          threshold: {must_be: 0, level: warn} # leave it out, and others are refused"


def _block(values: list[str]) -> Iterator[str]:
    yield "          valid_values:"
    yield from (f"            - {value}" for value in values)


def _label(column: ColumnProfile) -> str:
    """What a check is called after, which two names may share."""
    return re.sub(r"\W+", "_", column.name)
