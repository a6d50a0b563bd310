"""`lakehouse quarantine`: what was set aside is listed, shown, masked, and built again when it is mended."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date

import pytest
from project_copy import Project

from demo.arrivals import files_of_day, flights_by_day
from demo.seed import write_reference

DAYS = ["2013-01-01", "2013-01-02", "2013-01-03", "2013-01-04"]
BAD = (DAYS[0], DAYS[3])  # two ranges, with good days between
RULE = """
  - name: name
    data_type: varchar
    pii: personal
    checks:
      - invalid: {name: no person, invalid_values: [Bob Secret], attributes: {quarantine: true}}
gates: {good_rows_percent: 50}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("made") / "project")


@pytest.fixture
def write_days(project: Project) -> Iterator[Callable[[Sequence[str]], None]]:
    """Write the files of all days; those named have a flight that leaves from nowhere."""
    texts = {day.isoformat(): text for day, text in flights_by_day().items() if day.isoformat() in DAYS}

    def write(bad: Sequence[str]) -> None:
        for day, text in texts.items():
            flights, _ = files_of_day(project.sources, date.fromisoformat(day))
            flights.parent.mkdir(parents=True, exist_ok=True)
            flights.write_text(text.replace(",JFK,", ",XXX,", 1) if day in bad else text)

    yield write


def snapshot(project: Project, table: str) -> str:
    return project.run("lakehouse.cli", "history", table).splitlines()[1].split()[2]


def runs(project: Project) -> int:
    """How many runs Dagster knows."""
    return int(project.python("import dagster as dg; print(dg.DagsterInstance.get().get_runs_count())"))


def test_bronze_rows_are_listed_shown_and_replayed(
    project: Project, write_days: Callable[[Sequence[str]], None]
) -> None:
    write_days(BAD)
    assert "There are no tables yet" in project.quarantine("show", "bronze.flights", exit_code=1)
    assert project.quarantine("list") == "Nothing is in quarantine.\n"
    project.materialize("bronze.flights", DAYS[0], DAYS[-1])
    full = "select flight_date, count(*) from bronze.flights group by 1 order by 1"
    counts = dict(project.ask(full))

    listed = project.quarantine("list").splitlines()
    assert [line.split()[:4] for line in listed[1:]] == [["bronze.flights", day, "1", "0"] for day in BAD]
    assert "validity_origin 1" in listed[1]
    shown = project.quarantine("show", "bronze.flights", "--partition", BAD[1])
    assert "XXX" in shown and f"flights/{BAD[1]}.csv" in shown and BAD[0] not in shown
    assert "Nothing of" in project.quarantine("show", "bronze.flights", "--rule", "type")
    assert "1 of 2" in project.quarantine("show", "bronze.flights", "--limit", "1")

    # Not mended yet: they are there still, with the reason.
    said = project.quarantine("replay", "bronze.flights", "--partition", BAD[0], exit_code=1)
    assert "Still in quarantine:" in said and "flights leave New York: origin is XXX" in said
    assert dict(project.ask(full)) == counts

    write_days(())
    before = runs(project)
    said = project.quarantine("replay", "bronze.flights")
    cells = [line.split() for line in said.splitlines()[1:]]
    assert cells == [[day, counts[day], str(int(counts[day]) + 1), "1", "0"] for day in BAD]
    assert runs(project) == before + len(BAD)
    assert project.quarantine("list") == "Nothing is in quarantine.\n"
    assert project.ask("select count(*) from bronze.flights") == [
        [str(sum(map(int, counts.values())) + len(BAD))]
    ]
    # Exactly these were built: the days between have the run that loaded them first.
    loads = "select count(distinct _load_id), min(flight_date) from bronze.flights where"
    assert project.ask(f"{loads} flight_date in ('{DAYS[1]}', '{DAYS[2]}')") == [["1", DAYS[1]]]
    assert project.ask("select count(distinct _load_id) from bronze.flights") == [["3"]]

    now = snapshot(project, "bronze.flights")
    assert "nothing was built" in project.quarantine("replay", "bronze.flights")
    assert snapshot(project, "bronze.flights") == now
    assert runs(project) == before + len(BAD)


def test_rows_of_a_model_are_masked_and_replayed(project: Project) -> None:
    import sqlite3

    contract = project.folder / "checks" / "silver" / "airlines.yml"
    contract.write_text(contract.read_text().split("  - name: name\n")[0].rstrip() + RULE)
    write_reference(project.sources)
    with sqlite3.connect(project.sources / "operational.db") as database:
        [(rows,)] = database.execute("select count(*) from airlines").fetchall()
        database.execute("update airlines set name = 'Bob Secret' where carrier = 'AA'")
    project.materialize("bronze.airlines")
    project.materialize("silver.airlines")

    listed = project.quarantine("list").splitlines()[1:]
    assert [line.split()[:4] for line in listed] == [["silver.airlines", "-", "1", "0"]]
    assert project.ask("select count(*) from silver.airlines") == [[str(rows - 1)]]
    shown = project.quarantine("show", "silver.airlines")
    assert "Bob" not in shown and '"carrier":"AA"' in shown and '"name":"***"' in shown
    unmasked = project.quarantine("show", "silver.airlines", "--unmasked")
    assert '"name":"Bob Secret"' in unmasked and "name is Bob Secret" in unmasked
    said = project.quarantine("replay", "silver.airlines", exit_code=1)
    assert "Still in quarantine:\n  validity_name: no person: name ***" in said and "Bob" not in said

    with sqlite3.connect(project.sources / "operational.db") as database:
        database.execute("update airlines set name = 'American' where carrier = 'AA'")
    project.materialize("bronze.airlines")
    said = project.quarantine("replay", "silver.airlines")
    assert said.splitlines()[1].split() == ["-", str(rows - 1), str(rows), "1", "0"]
    assert project.ask("select name from silver.airlines where carrier = 'AA'") == [["American"]]
    assert project.quarantine("list") == "Nothing is in quarantine.\n"
    assert "nothing was built" in project.quarantine("replay", "silver.airlines")
