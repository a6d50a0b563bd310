"""Contracts for the tests of loading: columns of `bronze.t` with the checks that a test needs."""

from pathlib import Path

from lakehouse.ingest.columns import DeclaredColumns, read_columns

DAILY = """\
dataset: lakehouse/bronze/daily
version: "1.2.0"
owner: team:tests
tier: 3
timezone: America/New_York
gates:
  row_count_change_percent: {change}
  may_be_empty: {may_be_empty}
columns:
- {{name: d, data_type: date}}
- name: id
  data_type: integer
{of_id}
- name: name
  data_type: varchar
  pii: personal
{of_name}
{of_table}
"""


def daily_columns(
    folder: Path,
    *,
    of_id: str = "",
    of_name: str = "",
    of_table: str = "",
    change: str = "null",
    may_be_empty: str = "false",
) -> DeclaredColumns:
    """The columns of `bronze.daily` (d, id, name), each with these checks, one a line."""
    file = folder / "bronze" / "daily.yml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        DAILY.format(
            change=change,
            may_be_empty=may_be_empty,
            of_id=_checks(of_id, "  "),
            of_name=_checks(of_name, "  "),
            of_table=_checks(of_table, ""),
        )
    )
    return read_columns(file)


def _checks(lines: str, indent: str) -> str:
    written = [line for line in lines.splitlines() if line.strip()]
    return (
        "\n".join([f"{indent}checks:", *(f"{indent}- {line.strip()}" for line in written)]) if written else ""
    )
