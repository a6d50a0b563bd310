"""`lakehouse contract new`: a draft says what is true of the rows, and can be judged by at once."""

from datetime import date
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.quality.contract import Contract, read_contract
from lakehouse.settings import Settings
from lakehouse.storage import write
from lakehouse.storage.tables import TableSpec
from lakehouse.transform.model_audit import judge_published

LOADED = "'1' as _load_id, 'f' as _source_file, now() as _loaded_at"
# Names and values that YAML, SQL or Soda could read as something else.
ORDERS = f"""
    select date '2024-01-01' + cast(i // 30 as integer) as order_day, i as order_id, 'n' || (i % 15) as "no",
        ['no', '1e3', 'O''Hare', 'a "b"', 'x: y', '# z', 'é'][i % 7 + 1] as "the kind",
        nullif(i % 5, 0) as pieces, 'p' || (i % 3) as customer_name, now() as at,
        cast(i as decimal(10, 2)) as price, null::double as discount, [i] as lines,
        nullif('s' || (i % 4), 's0') as status, {LOADED}
    from range(300) as numbers(i)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with nothing in it, so that its definitions would not load."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.setenv("LAKEHOUSE_PROJECT_DIR", str(folder))
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["contract", *words])


def build(table: str, sql: str, partition_by: str | None = None) -> None:
    class Rows:
        connection = duckdb.connect()

        def query(self, _: object) -> str:
            return sql

    write.replace(open_catalog(Settings()), TableSpec(table, partition_by), Rows())


def drafted(project: Path, table: str) -> Contract:
    """The draft, as it is read from the file that it was written to."""
    result = run("new", "--write", table)
    assert result.exit_code == 0, result.output
    return read_contract(project / "checks" / f"{table.replace('.', '/')}.yml", table)


def model(project: Path, table: str, *columns: str) -> None:
    """A dbt model with its documentation."""
    layer, name = table.split(".")
    folder = project / "dbt_project" / "models" / layer
    folder.mkdir(parents=True)
    (folder / f"{name}.sql").write_text("select 1")
    lines = "".join(f"\n      - name: {column}" for column in columns)
    (folder / "models.yml").write_text(
        f"models:\n  - name: {name}\n    description: Said {'in many words ' * 9}.\n    columns:{lines}"
        "\n        description: The last."
    )


def test_what_the_rows_show_is_in_the_draft(project: Path) -> None:
    build("bronze.orders", ORDERS, "order_day")

    contract = drafted(project, "bronze.orders")

    assert {column.name: (column.type, column.nullable) for column in contract.columns} == {
        "order_day": ("date", False),
        "order_id": ("bigint", False),
        "no": ("varchar", False),
        "the kind": ("varchar", False),
        "pieces": ("bigint", True),
        "customer_name": ("varchar", False),
        "at": ("timestamptz", False),
        "price": ("decimal(10, 2)", False),
        "discount": ("double", True),
        "lines": ("bigint[]", False),
        "status": ("varchar", True),
    }
    checks = {check.name: check for check in contract.checks}
    assert checks["uniqueness_order_id"].blocks
    kinds = checks["validity_the_kind"]
    assert kinds.warns and [*kinds.body["valid_values"]] == sorted(
        ["no", "1e3", "O'Hare", 'a "b"', "x: y", "# z", "é"]
    )
    assert checks["validity_status"].body["valid_values"] == ["s1", "s2", "s3"]
    assert "validity_no" in checks and "validity_customer_name" not in checks  # the values may be persons


def test_a_draft_tells_a_person_what_is_left(project: Path) -> None:
    build("bronze.orders", ORDERS, "order_day")

    text = run("new", "bronze.orders").output

    assert not (project / "checks").exists()
    assert "# Drafted from the 300 rows of bronze.orders" in text
    assert "owner: TODO #" in text and "timezone: UTC #" in text
    assert "- name: order_day # the partition" in text
    assert "- name: customer_name\n    data_type: varchar\n    description: TODO\n" in text
    assert "# pii: personal #" in text and text.count("# pii:") == 1
    assert text.count("# zone: America/New_York") == 1
    assert "# null in every row so far" in text


def test_a_draft_passes_on_the_rows_it_is_of(project: Path) -> None:
    build("silver.orders", ORDERS, "order_day")
    contract = drafted(project, "silver.orders")

    results = judge_published(contract, Settings(), "a-run", "order_day", "day", None)

    assert len(results) == 10
    assert {result.outcome for judged in results.values() for result in judged} == {"passed"}
    names = {result.check for result in results[date(2024, 1, 1)]}
    assert {"completeness_required_columns", "uniqueness_order_id", "validity_the_kind"} <= names


def test_partitions_that_differ_much_widen_the_gate(project: Path) -> None:
    sizes = (
        "select date '2024-01-01' + i as day, i as id from (select unnest(range(12)::integer[]) as i) as days"
    )
    build("silver.days", f"{sizes}, range(case when i = 11 then 43 else 20 end)", "day")

    contract = drafted(project, "silver.days")
    results = judge_published(contract, Settings(), "a-run", "day", "day", None)

    assert contract.gates == {"row_count_change_percent": 120}
    assert {result.outcome for judged in results.values() for result in judged} == {"passed"}


def test_verify_says_what_is_still_to_do(project: Path) -> None:
    build("silver.lines", "select i // 10 as order_id, i % 10 as line_no, 1.5 as x from range(100) as t(i)")
    model(project, "silver.lines", "order_id", "line_no", "x")

    contract = drafted(project, "silver.lines")
    result = run("verify", "silver.lines")

    assert result.exit_code == 0, result.output
    assert "agrees with its model and its table" in result.output
    assert "still TODO: the owner, the description of order_id, line_no" in result.output
    assert contract.description == f"Said {'in many words ' * 9}."
    assert contract.columns[2].description == "The last."
    [key] = [check for check in contract.checks if check.type == "duplicate"]
    assert {*key.body["columns"]} == {"order_id", "line_no"}


def test_many_times_do_not_hide_a_key(project: Path) -> None:
    times = ", ".join(
        f"timestamp '2024-01-01' + to_hours(cast(i // 4 as integer)) as at_{n}" for n in range(4)
    )
    texts = ", ".join(f"'t' || (i % {n}) as text_{n}" for n in (2, 3))
    build("silver.t", f"select {times}, {texts}, i % 4 as place from range(400) as t(i)")

    [key] = [check for check in drafted(project, "silver.t").checks if check.type == "duplicate"]

    assert len(key.body["columns"]) == 2 and "place" in key.body["columns"]


def test_without_a_key_the_draft_says_so(project: Path) -> None:
    build("gold.t", "select i % 3 as id, 'a' as kind from range(100) as t(i)")

    assert "# No key was found" in run("new", "gold.t").output


def test_of_an_empty_table_nothing_is_claimed(project: Path) -> None:
    build("gold.t", "select 1 as id, 'a' as kind where false")

    contract = drafted(project, "gold.t")

    assert contract.checks == () and contract.gates == {"may_be_empty": True}
    assert all(column.nullable for column in contract.columns)
    [judged] = judge_published(contract, Settings(), "a-run", None, "day", None).values()
    assert {result.outcome for result in judged} == {"passed"}


def test_a_contract_is_never_written_over(project: Path) -> None:
    build("gold.t", "select 1 as id")
    drafted(project, "gold.t")
    file = project / "checks/gold/t.yml"
    file.write_text("mine")

    result = run("new", "--write", "gold.t")

    assert result.exit_code == 1 and "is there already and stays as it is" in result.output
    assert file.read_text() == "mine"
    assert run("new", "gold.t").exit_code == 0


@pytest.mark.parametrize("place", ["checks", "checks/gold"])
def test_a_draft_that_cannot_be_written_leaves_nothing(project: Path, place: str) -> None:
    build("gold.t", "select 1 as id")
    (project / place).parent.mkdir(exist_ok=True)
    (project / place).write_text("a file where the folder should be")

    result = run("new", "--write", "gold.t")

    assert result.exit_code == 1
    assert "checks/gold/t.yml cannot be written" in result.output and "Traceback" not in result.output


def test_a_draft_is_the_whole_file_and_nothing_beside_it(project: Path) -> None:
    build("gold.t", "select 1 as id")
    text = run("new", "gold.t").output

    drafted(project, "gold.t")

    [file] = (project / "checks").rglob("*.*")
    assert file.read_text() == text
    assert file.stat().st_nlink == 1


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("silver.absent", "There is no table silver.absent to draft from"),
        ("quarantine.silver_t", "quarantine.silver_t is no table of Bronze, Silver or Gold"),
        ("silver.../x", "is no table of Bronze, Silver or Gold"),
    ],
)
def test_a_table_that_is_not_there(table: str, says: str) -> None:
    before = run("new", table)
    build("gold.t", "select 1 as id")
    after = run("new", "--write", table)

    assert before.exit_code == after.exit_code == 1
    assert says in before.output and says in after.output
