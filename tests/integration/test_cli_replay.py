"""`lakehouse quarantine replay` of a table that its source adds to: what it says, and the run that it is."""

import json
from typing import Any

import pytest
from project_copy import Project

CONTRACT = """\
dataset: lakehouse/bronze/sales
version: "1.0.0"
owner: team:tests
tier: 3
schema_mode: discard_row
gates: {{good_rows_percent: 0}}
columns:
  - {{name: id, data_type: integer}}
  - name: price
    data_type: {kind}
    checks:
      - invalid: {{name: a price, invalid_values: {bad}, attributes: {{quarantine: true}}}}
"""
SOURCE = """\
from lakehouse.ingest.columns import read_columns
from lakehouse.ingest.json_files import read_ndjson
from lakehouse.ingest.source import BronzeSource
from lakehouse.orchestration.bronze import bronze_asset
from lakehouse.settings import Settings

SALES = BronzeSource(
    table="sales",
    origin="sales.jsonl",
    columns=read_columns(Settings().contracts_dir / "bronze" / "sales.yml"),
    extract=lambda extraction: read_ndjson(extraction, extraction.settings.source_dir / "sales.jsonl"),
    write_disposition="append",
)
sales = bronze_asset(SALES, owners=["team:tests"])
"""
LAST_RUN = """
import dagster as dg, json
instance = dg.DagsterInstance.get()
run = instance.get_runs(limit=1)[0]
checks = [event.dagster_event.event_specific_data for event in instance.all_logs(run.run_id)
          if event.dagster_event and event.dagster_event.event_type_value == "ASSET_CHECK_EVALUATION"]
print(json.dumps([run.tags["lakehouse/replay"], {check.check_name: check.passed for check in checks}]))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("made") / "project")
    (project.folder / "assets" / "bronze" / "sales.py").write_text(SOURCE)
    project.sources.mkdir(parents=True)
    return project


def declare(project: Project, bad: list[int], kind: str = "integer") -> None:
    (project.folder / "checks" / "bronze" / "sales.yml").write_text(CONTRACT.format(bad=bad, kind=kind))


def last_run(project: Project) -> Any:
    return json.loads(project.python(LAST_RUN))


def test_rows_of_a_source_that_appends_are_replayed_from_quarantine(project: Project) -> None:
    declare(project, bad=[20, 300])
    prices = [1, 20, 300, "5", 3_000_000_000]
    lines = [json.dumps({"id": number, "price": price}) for number, price in enumerate(prices)]
    (project.sources / "sales.jsonl").write_text("\n".join([*lines, "{broken"]))
    project.materialize("bronze.sales")
    (project.sources / "sales.jsonl").unlink()  # it will not give them again
    assert project.ask("select count(*) from bronze.sales") == [["1"]]

    declare(project, bad=[300], kind="bigint")
    said = project.quarantine("replay", "bronze.sales", exit_code=1)
    assert said.splitlines()[1].split() == ["-", "1", "3", "5", "3"], said
    assert "sales.jsonl: validity_price: a price: price is 300" in said
    assert 'sales.jsonl, row 4: type: column price: "5" is text, but the column is declared bigint' in said
    assert "2 rows went from quarantine to bronze.sales." in said
    assert "1 in quarantine could not be read" in said
    rows = "select id, price, _source_file from bronze.sales order by id"
    assert project.ask(rows) == [
        ["0", "1", "sales.jsonl"],
        ["1", "20", "sales.jsonl"],
        ["4", "3000000000", "sales.jsonl"],
    ]
    table, checks = last_run(project)
    assert table == "bronze.sales"
    assert checks["reconciliation"] and not checks["validity_price"]

    before = project.ask(rows)
    said = project.quarantine("replay", "bronze.sales", exit_code=1)
    assert "0 rows went from quarantine" in said
    assert project.ask(rows) == before
