"""dbt models that merge: `upsert`, `insert_only`, `is_incremental()` and `--full-refresh`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakehouse.settings import Settings

Query = Callable[[str], list[tuple[Any, ...]]]
Build = Callable[..., str]

THINGS = """
{{ config(incremental_strategy='upsert', unique_key='id', cursor='version', deleted_flag='gone') }}
select * from (values {{ var('rows') }}) as things(id, name, version, gone)
{% if is_incremental() %}
where version >= (select max(version) from {{ this }})
{% endif %}
"""
SEEN = """
{{ config(incremental_strategy='insert_only', unique_key=['id']) }}
select id, min(version) as version from {{ ref('things') }} group by id
"""


@pytest.fixture
def build(settings: Settings, tmp_path: Path) -> Build:
    """Run a dbt project with the project's macros and two models that merge."""
    project = tmp_path / "dbt"
    (project / "models" / "silver").mkdir(parents=True)
    shutil.copytree(settings.dbt_dir / "macros", project / "macros")
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(settings.dbt_dir / name, project / name)
    (project / "models" / "silver" / "things.sql").write_text(THINGS)
    (project / "models" / "silver" / "seen.sql").write_text(SEEN)

    def run(rows: str, *args: str, exit_code: int = 0) -> str:
        finished = subprocess.run(
            [str(Path(sys.executable).with_name("dbt")), "run", "--vars", f'{{rows: "{rows}"}}', *args],
            cwd=project,
            env=os.environ
            | {
                "DBT_TARGET_PATH": str(project / "target"),
                "DBT_LOG_PATH": str(project),
                "LAKEHOUSE_PROJECT_DIR": str(tmp_path),  # whose contracts there are
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == exit_code, finished.stdout
        return finished.stdout

    return run


def test_changes_are_merged_and_a_full_refresh_starts_over(build: Build, query: Query) -> None:
    things = "select id, name, version from silver.things order by id"
    build("(1, 'a', 1, false), (2, 'b', 2, false)")
    assert query(things) == [(1, "a", 1), (2, "b", 2)]

    # The first row is older than what is there: is_incremental() leaves it out.
    build("(1, 'too old', 1, false), (2, 'b', 3, true), (3, 'c', 3, false)")
    assert query(things) == [(1, "a", 1), (3, "c", 3)]
    assert query("select id, version from silver.seen order by id") == [(1, 1), (2, 2), (3, 3)]

    build("(7, 'z', 1, false)", "--full-refresh")
    assert query(things) == [(7, "z", 1)]


def test_a_missing_key_is_a_sentence(build: Build, query: Query) -> None:
    build("(1, 'a', 1, false)")
    output = build("(null::int, 'x', 5, false)", exit_code=1)
    assert "silver.things: 1 rows have no id" in output
    assert "Traceback" not in output
    assert query("select id from silver.things") == [(1,)]


SEEN_CONTRACT = """
dataset: lakehouse/silver/seen
version: "1.0.0"
owner: team:tests
tier: 3
gates: {good_rows_percent: 0}
columns:
- name: id
  data_type: integer
  checks:
  - duplicate:
- name: version
  data_type: integer
  checks:
  - invalid: {valid_max: 9, attributes: {quarantine: true}}
"""


def test_rows_of_a_merge_that_break_a_rule_are_set_aside(build: Build, query: Query, tmp_path: Path) -> None:
    contract = tmp_path / "checks" / "silver" / "seen.yml"
    contract.parent.mkdir(parents=True)
    contract.write_text(SEEN_CONTRACT)

    build("(1, 'a', 1, false), (2, 'b', 10, false)")

    assert query("select id, version from silver.seen") == [(1, 1)]
    aside = "select rule, column_name, value, raw from quarantine.silver_seen"
    assert query(aside) == [("validity_version", "version", "10", '{"id":"2","version":"10"}')]
