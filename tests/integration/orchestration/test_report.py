"""The report of a lakehouse with a bad day: what failed, the rows, quarantine and the score."""

from collections.abc import Callable, Sequence
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner
from instances import QUIET

from lakehouse.cli import main
from lakehouse.definitions import defs
from lakehouse.operations.report.evaluations import latest_evaluations
from lakehouse.operations.report.report import Report, collect
from lakehouse.operations.report_asset import KEY, write_report
from lakehouse.settings import Settings

Materialize = Callable[..., dg.ExecuteInProcessResult]
DAYS = ["2013-05-01", "2013-05-02", "2013-05-03"]
BAD = DAYS[1]
SCRIPT = "<script>alert(1)</script>"


def change(file: Path, row: int, **values: str) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    header, cells = lines[0].split(","), lines[row].split(",")
    for name, value in values.items():
        cells[header.index(name)] = value
    lines[row] = ",".join(cells)
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture
def bad_day(settings: Settings, seed_days: Callable[[Sequence[str]], None], materialize: Materialize) -> Path:
    """Three days; on the second a flight is four days late, and two have no carrier."""
    seed_days(DAYS)
    file = settings.source_dir / "flights" / f"{BAD}.csv"
    file.with_suffix(".good").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    change(file, 1, dep_delay="5760", tailnum=SCRIPT)
    change(file, 2, carrier="NA")
    change(file, 3, carrier="NA")
    reference = ("airports", "airlines", "planes")
    assert materialize(*(f"{layer}.{table}" for layer in ("bronze", "silver") for table in reference)).success
    assert materialize("bronze.flights", start=DAYS[0], end=DAYS[-1]).success
    assert not materialize("silver.flights", start=DAYS[0], end=DAYS[-1]).success
    return file


def cell(report: Report, table: str, dimension: str) -> tuple[int, int]:
    [score] = [one for one in report.tables if one.table.name == table]
    found = score.cells[dimension]  # type: ignore[index]
    return found.failed, found.warned


def test_the_report_says_what_failed_shows_the_rows_and_counts_quarantine(
    bad_day: Path, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    file = tmp_path / "reports" / "quality.html"
    report, written = write_report(Settings(), instance, defs, file)
    assert written == file
    assert report.score is not None
    assert report.score < 100
    assert report.tables[0].score == min(one.score for one in report.tables if one.score is not None)
    assert cell(report, "silver.flights", "validity")[0] == 1
    assert cell(report, "bronze.flights", "validity") == (0, 0)
    assert [day.isoformat() for day, _ in report.by_day] == DAYS
    by_day = {day.isoformat(): score for day, score in report.by_day}
    assert by_day[BAD] == min(by_day.values())

    first = report.findings[0]
    assert (first.table.name, first.check, first.partitions) == (
        "silver.flights",
        "validity_dep_delay",
        [BAD],
    )
    [held] = report.quarantine
    assert (held.table, held.rows, held.by_day) == ("bronze.flights", 2, [(report.by_day[1][0], 2)])
    assert [(reason.rule, reason.rows) for reason in held.reasons] == [("completeness_carrier", 2)]
    [fresh] = [
        one for tier in report.freshness.values() for one in tier if one.table.name == "silver.flights"
    ]
    assert fresh.newest == DAYS[-1]

    text = file.read_text(encoding="utf-8")
    assert "<td>5760</td>" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text
    assert "no more than two hours early or two days late" in text
    assert "gold.<wbr>daily_<wbr>airport_<wbr>performance" in text  # not built, and there all the same
    assert "not built yet" in text


@pytest.mark.usefixtures("bad_day")
def test_a_day_with_nothing_to_compare_it_with_is_not_shown_as_judged(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    report, file = write_report(Settings(), instance, defs, tmp_path / "quality.html")
    [flights] = [one for one in report.tables if one.table.name == "silver.flights"]
    days = len(DAYS)
    compared = 7 * days  # by seven checks; one of bounds needs no other day
    assert flights.unjudged == {"distribution": compared}
    assert flights.cells["distribution"].evaluations == days
    assert f"{compared} without enough history" in file.read_text(encoding="utf-8")


def test_a_mended_day_is_judged_by_its_last_evaluation(
    bad_day: Path, instance: dg.DagsterInstance, materialize: Materialize
) -> None:
    bad_day.write_text(bad_day.with_suffix(".good").read_text(encoding="utf-8"), encoding="utf-8")
    assert materialize("bronze.flights", "silver.flights", start=BAD).success
    report = collect(Settings(), instance, defs)
    assert report.failed == 0
    assert cell(report, "silver.flights", "validity")[0] == 0
    assert not report.quarantine


def test_a_check_that_the_project_no_longer_has_is_left_out(instance: dg.DagsterInstance) -> None:
    for check in ("validity_of_long_ago", "completeness_gate_row_count"):
        instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(
                asset_key=dg.AssetKey(["silver", "airports"]), check_name=check, passed=False, metadata={}
            )
        )
    assert len(latest_evaluations(instance)) == 2
    report = collect(Settings(), instance, defs)
    assert [finding.check for finding in report.findings] == ["completeness_gate_row_count"]


def test_the_asset_writes_the_page_and_its_score_is_kept(
    settings: Settings, instance: dg.DagsterInstance, materialize: Materialize
) -> None:
    assert materialize("quality_report").success  # nothing was built yet
    record = instance.get_latest_materialization_event(KEY)
    assert record is not None
    assert record.asset_materialization is not None
    metadata = record.asset_materialization.metadata
    assert "score" not in metadata
    file = Path(str(metadata["path"].value))
    assert file == (settings.data_dir / "reports" / "quality.html").resolve()
    assert "Nothing was judged yet" in file.read_text(encoding="utf-8")

    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(["silver", "airports"]),
            check_name="completeness_gate_row_count",
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={},
        )
    )
    for _ in range(2):
        assert materialize("quality_report").success
    last = instance.get_latest_materialization_event(KEY)
    assert last is not None
    assert last.asset_materialization is not None
    said = {name: value.value for name, value in last.asset_materialization.metadata.items()}
    assert (said["score"], said["checks_warned"], said["checks_failed"]) == (50.0, 1, 0)
    assert "As reported" in file.read_text(encoding="utf-8")


def test_the_command_writes_where_it_is_told(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home"), overrides=QUIET) as instance:
        monkeypatch.setattr(dg.DagsterInstance, "get", lambda: instance)
        result = CliRunner().invoke(main, ["report", "--output", str(tmp_path / "here.html")])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{tmp_path / 'here.html'}: nothing was judged yet")
    assert (tmp_path / "here.html").exists()
