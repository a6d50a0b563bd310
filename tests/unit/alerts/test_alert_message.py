"""One message for the tables of an owner, grouped by check, short however much went wrong."""

from lakehouse.alerts.message import SHOWN_PARTITIONS, message_of
from lakehouse.alerts.outcome import Finding, Kind, StepOutcome, TableOutcome

URL = "http://127.0.0.1:3000"


def flights(*findings: Finding, tier: int | None = 2, owner: str = "team:flights") -> TableOutcome:
    return TableOutcome("silver.flights", owner, tier, published={"2013-02-01"}, findings=list(findings))


def lost(partition: str, said: str = "a reason") -> Finding:
    return Finding(Kind.NOT_PUBLISHED, "silver.flights", partition, Kind.NOT_PUBLISHED, said=said)


def failed(partition: str, kind: Kind = Kind.CHECK) -> Finding:
    return Finding(kind, "silver.flights", partition, "uniqueness_id", "once each (blocks)", "3, must be 0")


def aside(partition: str, rows: int) -> Finding:
    return Finding(
        Kind.QUARANTINE, "silver.flights", partition, Kind.QUARANTINE, said=f"{rows} rows", rows=rows
    )


def test_a_check_that_fails_for_a_month_of_days_is_said_once() -> None:
    days = [f"2013-01-{day:02}" for day in range(1, 32)]
    message = message_of([flights(*map(lost, days), *map(failed, days))], "r1", URL)

    assert message.title == "[error] silver.flights: 31 of 32 partitions were not published"
    assert message.body.count("uniqueness_id failed: once each (blocks)") == 1
    assert message.body.count("2013-01-") == SHOWN_PARTITIONS
    assert f"    and {31 - SHOWN_PARTITIONS} more" in message.body
    assert "a reason" not in message.body  # the check is the reason
    assert message.body.endswith(f"Run: {URL}/runs/r1")


def test_a_partition_without_a_failed_check_says_its_reason() -> None:
    message = message_of([flights(lost("2013-01-01", "no file"), failed("2013-01-02"))], "r1", URL)
    assert "- Not published\n    2013-01-01: no file\n" in message.body
    assert "refused." not in message.body


def test_rows_that_are_kept_can_be_queried() -> None:
    table = flights(lost("2013-01-01"), failed("2013-01-01"))
    table.refused = True
    sql = "select * from refused.silver_flights where run_id = 'r1'"
    assert f'lakehouse query "{sql}"' in message_of([table], "r1", URL).body


def test_a_long_reason_is_cut() -> None:
    body = message_of([flights(lost("2013-01-01", "x" * 5000))], "r1", URL).body
    assert len(body) < 1000


def test_severity_is_by_tier() -> None:
    tiers = {tier: message_of([flights(lost(""), tier=tier)], "r1", URL).severity for tier in (1, 2, 3, None)}
    assert tiers == {1: "critical", 2: "error", 3: "warning", None: "error"}
    assert message_of([flights(aside("", 3), tier=1)], "r1", URL).severity == "warning"


def test_the_worst_table_is_the_title() -> None:
    weather = TableOutcome("silver.weather", "team:flights", 1, findings=[lost("")])
    message = message_of([flights(aside("", 3)), weather], "r1", URL)
    assert message.title == "[critical] silver.weather was not published (and 1 more table)"
    assert "silver.flights: 3 rows were set aside in quarantine." in message.body


def test_each_owner_gets_the_own_tables() -> None:
    planes = TableOutcome("silver.planes", "team:fleet", 3, findings=[lost("")])
    step = StepOutcome("r1", [flights(lost("")), planes, flights(lost(""))])
    assert [[one.owner for one in group] for group in step.by_owner(warnings=False)] == [
        ["team:flights", "team:flights"],
        ["team:fleet"],
    ]


def test_a_warning_alone_is_quiet() -> None:
    step = StepOutcome("r1", [flights(failed("", Kind.WARNING))])
    assert list(step.by_owner(warnings=False)) == []
    assert len(list(step.by_owner(warnings=True))) == 1
