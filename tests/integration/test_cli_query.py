"""`lakehouse query`: the answers it gives, exactly, and what it refuses to do."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from lakehouse.catalog import open_catalog
from lakehouse.cli import main
from lakehouse.query import open_query
from lakehouse.settings import PROJECT_DIR, Settings
from lakehouse.storage import duckdb_session, write
from lakehouse.storage.tables import TableSpec

SECRET = "the-secret-text"
READS_ONLY = "only reads"


class Source:
    """Rows of a query, whatever the partitions."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        self.connection = connection
        self.sql = sql

    def query(self, _partitions: object) -> str:
        return self.sql


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lakehouse, secrets beside it, and a link to one of them inside a table's folder."""
    folder = tmp_path_factory.mktemp("lake")
    settings = Settings(data_dir=folder / "data")
    catalog, connection = open_catalog(settings), duckdb_session.connect(settings)
    for name, sql in {
        "bronze.events": "select i::int as id, 'n' || i as name from range(250) r(i)",
        "silver.Mixed": "select 1 as a",
        "gold.broken": "select 1 as a",
    }.items():
        write.replace(catalog, TableSpec(name), Source(connection, sql))
    Path(catalog.load_table("gold.broken").metadata_location).unlink()
    (folder / "secret.csv").write_text(f"a,b\n{SECRET},1\n")
    connection.execute(f"copy (select '{SECRET}' as a) to '{folder}/secret.parquet'")
    (folder / "schema.sql").write_text(SECRET)  # what IMPORT DATABASE reads while it is parsed
    (folder / "load.sql").write_text(SECRET)
    (settings.warehouse_dir / "bronze/events/link.csv").symlink_to(folder / "secret.csv")
    (settings.warehouse_dir / "bronze/events/folder").symlink_to(folder)
    return folder


@pytest.fixture(autouse=True)
def _environment(lake: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(lake / "data"))
    monkeypatch.setenv("MY_PASSWORD", SECRET)
    monkeypatch.chdir(lake)
    yield


def ask(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["query", *args], input=stdin)


def files(folder: Path) -> dict[str, bytes]:
    """Every file and its content; not the catalog's, which SQLite touches, nor through links."""
    return {
        str(Path(root) / name): (Path(root) / name).read_bytes()
        for root, _, names in os.walk(folder)
        for name in names
        if not name.startswith("catalog.db")
    }


ATTACKS = [
    # more than a SELECT
    "copy (select 1) to '{lake}/evil.csv'",
    "copy bronze.events to '{table}/evil.parquet'",
    "copy bronze.events to '{table}' (format parquet, partition_by (id))",
    "export database '{lake}/evil'",
    "import database '{lake}'",
    "attach '{lake}/evil.db'",
    "attach '{lake}/data/catalog.db' as c (type sqlite)",
    "create table evil as select 1",
    "create view bronze.evil as select 1",
    "create or replace view bronze.events as select 1",
    "create persistent secret evil (type http)",
    "create macro evil() as 1",
    "insert into bronze.events values (1, 'x')",
    "update bronze.events set id = 1",
    "delete from bronze.events",
    "drop view bronze.events",
    "merge into bronze.events using (select 1 as id) s on true when matched then delete",
    "set lock_configuration = false",
    "reset allowed_directories",
    "pragma enable_external_access = true",
    "pragma enable_profiling = 'json'",
    "pragma version",
    "pragma import_database('{lake}')",
    "install httpfs",
    "load httpfs",
    "load '{lake}/secret.csv'",
    "call enable_logging(storage = 'file', storage_config = {{'path': '{table}/log'}})",
    "checkpoint",
    "begin",
    "use bronze",
    "prepare p as select 1",
    "vacuum",
    "select 1; select 2",
    "select 1; copy (select 1) to '{lake}/evil.csv'",
    "explain copy (select 1) to '{lake}/evil.csv'",
    "explain analyze copy (select 1) to '{lake}/evil.csv'",
    "explain (analyze, format json) copy (select 1) to '{table}/evil.csv'",
    "/* /* */ explain select 1 -- */ explain copy (select 1) to '{lake}/evil.csv'",
    "/* /* */ explain analyze select 1 -- */ explain analyze copy (select 1) to '{table}/evil.csv'",
    "explain analyze create table evil as select 1",
    "with x as (insert into bronze.events values (1, 'x') returning *) from x",
    "pivot bronze.events on name using sum(id)",
    # table functions of a SELECT
    "from enable_logging(storage = 'file', storage_config = {{'path': '{table}/log'}})",
    "from enable_profiling(save_location = '{table}/profile.json')",
    "from \"enable_logging\"('x'), bronze.events",
    "from main.enable_logging('x')",
    "from query('from read_text(''{lake}/secret.csv'')')",
    "from query_table('{lake}/secret.csv')",
    "from json_execute_serialized_sql(json_serialize_sql('from read_text(''{lake}/secret.csv'')'))",
    "from checkpoint()",
    "from duckdb_secrets()",
    "from duckdb_settings()",
    "from read_csv('{lake}/secret.csv')",
    "from READ_CSV_AUTO('{lake}/secret.csv')",
    "from read_text('secret.csv')",
    "from read_blob('/proc/self/environ')",
    "from read_json('/proc/self/environ')",
    "from read_text('{table}/../../../../secret.csv')",
    "from read_text('{table}/link.csv')",
    "from read_text('{table}/folder/secret.csv')",
    "from read_text('file://{lake}/secret.csv')",
    "from read_parquet('{lake}/*.parquet')",
    "from parquet_metadata('{lake}/secret.parquet')",
    "from sniff_csv('{lake}/secret.csv')",
    "from glob('{lake}/*')",
    "from read_duckdb('{lake}/data/catalog.db')",
    "from sqlite_scan('{lake}/data/catalog.db', 'iceberg_tables')",
    "from iceberg_scan('{table}')",
    "from iceberg_metadata('{table}')",
    "from set_iceberg_table_properties('bronze.events', map{{'a': 'b'}})",
    "from read_csv('http://127.0.0.1:9/x')",
    "from arrow_scan(1::pointer, 2::pointer, 3::pointer)",
    "select (select content from read_text('{lake}/secret.csv'))",
    "select 1 limit (select length(content) from read_text('{lake}/secret.csv'))",
    "select 1 order by (select content from read_text('{lake}/secret.csv'))",
    "select list_transform([1], lambda x: (select content from read_text('{lake}/secret.csv')))",
    "with a as (from read_text('{lake}/secret.csv')) from a",
    "with recursive a as (select 1 union all from glob('{lake}/*')) from a",
    "from bronze.events, lateral (from read_text(name))",
    "describe (from read_csv('{lake}/secret.csv'))",
    "summarize (from read_csv('{lake}/secret.csv'))",
    "explain analyze from read_csv('{lake}/secret.csv')",
    "pivot (from read_csv('{lake}/secret.csv')) on b in (1) using first(a)",
    "unpivot (from read_csv('{lake}/secret.csv')) on a",
    # tables that are files, or Python's variables
    "from '{lake}/secret.csv'",
    "from 'secret.csv'",
    "from 'secret.parquet'",
    "from '{table}/link.csv'",
    "from '{table}/folder/secret.parquet'",
    'from "secret"."csv"',
    "from '/etc/passwd'",
    "from 'http://127.0.0.1:9/x.csv'",
    "from SECRET",
    "describe '{lake}/secret.csv'",
    "with \"{lake}/secret.csv\" as (select 1) from (with x as (select 1) from '{lake}/secret.csv')",
    "from (with \"{lake}/secret.csv\" as (select 1) select 1), '{lake}/secret.csv'",
    "from bronze.events, (with \"{table}/link.csv\" as (select 1) select 1), '{table}/link.csv'",
    "show tables",
    "show all tables",
    "show tables from main",
    "show databases",
    # functions
    "select getenv('MY_PASSWORD')",
    "select getvariable('MY_PASSWORD')",
    "select write_log('x')",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_cannot_write_or_read_elsewhere(lake: Path, attack: str) -> None:
    sql = attack.format(lake=lake, table=lake / "data/warehouse/bronze/events")
    before = files(lake)

    result = ask(sql, "--format", "csv")

    assert SECRET not in result.output and "root:" not in result.output
    assert files(lake) == before
    assert "Traceback" not in result.output
    harmless = ("select getvariable", "select write_log", 'with "')  # they answer, with nothing in it
    assert result.exit_code in (1, 2) or attack.startswith(harmless), result.output


@pytest.mark.parametrize(
    "sql", ["drop table bronze.events", "select 1; select 2", "pragma version", "from glob('*')"]
)
def test_refuses_in_one_line_with_its_own_exit_code(sql: str) -> None:
    result = ask(sql)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and "lakehouse query" in result.stderr


LOCKED_OUT = [
    "from read_text('{lake}/secret.csv')",
    "from '{lake}/secret.csv'",
    "from read_text('{warehouse}/bronze/events/link.csv')",
    "from read_text('{warehouse}/bronze/events/../../../../secret.csv')",
    "from glob('{lake}/*')",
    "from iceberg_scan('{warehouse}/silver/Mixed')",  # a table that the query does not name
    "copy (select 1) to '{lake}/evil.csv'",
    "attach '{lake}/evil.db'",
    "import database '{lake}'",
    "create persistent secret evil (type http)",
    "set lock_configuration = false",
    "set allowed_directories = ['/']",
    "set enable_external_access = true",
    "load httpfs",
    "from lake",
]


@pytest.mark.parametrize("attack", LOCKED_OUT)
def test_engine_itself_is_locked(lake: Path, attack: str) -> None:
    """The second wall, without the first."""
    connection = open_query(Settings(), "from bronze.events")
    before = files(lake)

    with pytest.raises(duckdb.Error) as refusal:
        connection.execute(attack.format(lake=lake, warehouse=lake / "data/warehouse")).fetchall()

    assert SECRET not in str(refusal.value)
    assert files(lake) == before


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select count(*) as n from bronze.events", [{"n": 250}]),
        ("select a from SILVER.mixed", [{"a": 1}]),
        ('select a from "silver"."Mixed"; -- the end', [{"a": 1}]),
        ("with events as (select 1 as a) from events", [{"a": 1}]),
        ("select m.a from silver.mixed m join bronze.events e on e.id = m.a", [{"a": 1}]),
        ("values (1)", [{"col0": 1}]),
        ("select x from range(2) r(x) order by x desc", [{"x": 1}, {"x": 0}]),
        ("pivot silver.mixed on a in (1) using count(*)", [{"1": 1}]),
        ("select a from silver.mixed where false", []),
    ],
)
def test_answers_a_select(sql: str, rows: list[dict[str, object]]) -> None:
    result = ask(sql, "--format", "json")

    assert json.loads(result.stdout) == rows, result.output


def test_describes_and_explains() -> None:
    described = list(csv.DictReader(io.StringIO(ask("describe bronze.events", "--format", "csv").stdout)))

    assert [(row["column_name"], row["column_type"]) for row in described] == [
        ("id", "INTEGER"),
        ("name", "VARCHAR"),
    ]
    assert "n249" in ask("summarize bronze.events").stdout or "n99" in ask("summarize bronze.events").stdout
    assert "ICEBERG_SCAN" in ask("explain from bronze.events").stdout
    assert (
        "explain_value" in json.loads(ask("explain analyze from bronze.events", "--format", "json").stdout)[0]
    )


def test_reads_sql_from_stdin() -> None:
    assert ask("-", "--format", "csv", stdin="select 1 as a,\n 2 as b;\n").stdout == "a,b\n1,2\n"


VALUES = [  # SQL, its JSON, its CSV
    ("null", "null", ""),
    ("''", '""', '""'),
    ("'a,\"b\"'", '"a,\\"b\\""', '"a,""b"""'),
    ("e'a\\nb'", '"a\\nb"', '"a\nb"'),
    ("true", "true", "true"),
    ("9007199254740993", "9007199254740993", "9007199254740993"),
    ("170141183460469231731687303715884105727", *["170141183460469231731687303715884105727"] * 2),
    ("1.10::decimal(9, 2)", "1.10", "1.10"),
    ("12345678901234567890123456789.123456789", *["12345678901234567890123456789.123456789"] * 2),
    ("0.1::float", "0.1", "0.1"),
    ("'nan'::double", '"NaN"', "NaN"),
    ("'-inf'::float", '"-Infinity"', "-Infinity"),
    ("date '2013-01-02'", '"2013-01-02"', "2013-01-02"),
    ("timestamp '2013-01-02 03:04:05'", '"2013-01-02T03:04:05"', "2013-01-02T03:04:05"),
    ("timestamptz '2013-01-02 03:04:05.5-05'", '"2013-01-02T08:04:05.5Z"', "2013-01-02T08:04:05.5Z"),
    ("'\\xAA'::blob", '"\\\\xAA"', "\\xAA"),
    ("[1, null]", "[1, null]", '"[1, null]"'),
    ("[]::int[]", "[]", "[]"),
    ("null::int[]", "null", ""),
    ("[[1.50]]", "[[1.50]]", "[[1.50]]"),
    ("{'a b': 1.50, 'c': ['nan'::double]}", '{"a b": 1.50, "c": ["NaN"]}', None),
    ("null::struct(a int)", "null", ""),
    ("map{1: {'t': timestamptz '2013-01-02 00:00:00Z'}}", '{"1": {"t": "2013-01-02T00:00:00Z"}}', None),
    ("'{\"z\": 1.50}'::json", '{"z": 1.50}', '"{""z"": 1.50}"'),
]


@pytest.mark.parametrize(("value", "as_json", "as_csv"), VALUES)
def test_values_are_exact(value: str, as_json: str, as_csv: str | None) -> None:
    printed = ask(f"select {value} as v, 1 as w", "--format", "json").stdout
    line = (
        ask(f"select {value} as v, 1 as w", "--format", "csv")
        .stdout.removeprefix("v,w\n")
        .removesuffix(",1\n")
    )

    assert printed == f'[\n{{"v": {as_json}, "w": 1}}\n]\n'
    json.loads(printed, parse_constant=pytest.fail)
    if as_csv is not None:
        assert line == as_csv
    else:
        assert next(csv.reader([line]))[0] == as_json


def test_odd_column_names() -> None:
    sql = 'select 1 as "a,b", 2 as "say ""x""", 3 as c, 4 as c'

    assert ask(sql, "--format", "csv").stdout == '"a,b","say ""x""",c,c_1\n1,2,3,4\n'
    assert json.loads(ask(sql, "--format", "json").stdout) == [{"a,b": 1, 'say "x"': 2, "c": 3, "c_1": 4}]


def test_a_table_shows_the_first_rows_and_says_so() -> None:
    result = ask("from bronze.events order by id")

    assert "n99 " in result.stdout and "n100 " not in result.stdout
    assert "more than these 100 rows" in result.stderr
    assert ask("from bronze.events", "--format", "csv").stdout.count("\n") == 251


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("from bronze.nope", ["no table bronze.nope", "bronze.events", "silver.Mixed"]),
        ("from events", ['no table "events"', "bronze.events"]),
        ("from 'bronze.events'", ['no table "bronze.events"']),
        ("select nope from bronze.events", ["nope", '"name"']),
        ("selct 1", ["syntax error", "selct"]),
        ("select name::int from bronze.events", ["Could not convert string 'n0'"]),
        ("  ", ["no SQL"]),
        ("from gold.broken", ["gold.broken cannot be read", "backup"]),
    ],
)
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_errors_are_short(sql: str, says: list[str], form: str) -> None:
    result = ask(sql, "--format", form)

    assert result.exit_code == 1
    assert all(part in result.stderr for part in says), result.stderr
    assert "Traceback" not in result.stderr and "LINE" not in result.stderr
    assert len(result.stderr.splitlines()) <= 2


def test_debug_shows_the_stack_trace() -> None:
    result = CliRunner().invoke(main, ["--debug", "query", "from bronze.nope"])

    assert "no table bronze.nope" in str(result.exception)


def test_missing_data_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path))
    settings = Settings()
    catalog = open_catalog(settings)
    write.replace(catalog, TableSpec("gold.x"), Source(duckdb_session.connect(settings), "select 1 as a"))
    next(settings.warehouse_dir.glob("gold/x/data/**/*.parquet")).unlink()

    result = ask("from gold.x")

    assert result.exit_code == 1
    assert "gold/x/data" in result.stderr and "backup" in result.stderr


def test_empty_project_says_so_and_stays_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_DATA_DIR", str(tmp_path / "data"))

    result = ask("from gold.x")

    assert result.exit_code == 1 and "no tables yet" in result.stderr and "make dev" in result.stderr
    assert not (tmp_path / "data").exists()


def run(*args: str, reads: int | None = None) -> tuple[str, str, int]:
    """The command as a process; the reader hangs up after `reads` bytes."""
    command = [sys.executable, "-m", "lakehouse.cli", *args]
    with subprocess.Popen(
        command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stderr
        out = process.stdout.read() if reads is None else process.stdout.read(reads)
        process.stdout.close()
        return out, process.stderr.read(), process.wait()


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_reader_that_hangs_up_is_no_error(form: str) -> None:
    _, errors, _ = run(
        "query", "select i, repeat('x', 100) from range(500000) r(i)", "--format", form, reads=10
    )

    assert "Error" not in errors and "Traceback" not in errors and "Exception" not in errors


def test_heavy_modules_are_not_imported() -> None:
    code = (
        "import sys; from lakehouse.cli import main\n"
        "try: main(['query', 'select 1 from bronze.events limit 1', '--format', 'csv'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pyarrow', 'pandas', 'dagster', 'dlt', 'dbt') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT_DIR, capture_output=True, text=True, check=True
    )

    assert done.stdout == "1\n1\n[]\n"
