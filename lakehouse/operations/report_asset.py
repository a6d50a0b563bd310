"""The report as an asset, so that it can be scheduled and its score is plotted over time."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg

from lakehouse.operations.report.page import write_page
from lakehouse.operations.report.report import Report, collect
from lakehouse.orchestration.project import load_definitions
from lakehouse.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

KEY = dg.AssetKey("quality_report")
SHOWN_REPORTS = 365


def report_asset(owners: list[str]) -> dg.AssetsDefinition:
    """The asset `quality_report`, one HTML page of all tables' quality."""

    @dg.asset(
        key=KEY,
        owners=owners,
        group_name="operations",
        kinds={"html"},
        description="The quality of all tables on one page: scores, failing checks, freshness, quarantine.",
    )
    def quality_report(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        settings = Settings()
        report, file = write_report(settings, context.instance, load_definitions(settings.project_dir))
        for sentence in report.trouble:
            context.log.warning(sentence)
        return dg.MaterializeResult(metadata=_metadata(report, file))

    return quality_report


def write_report(
    settings: Settings, instance: dg.DagsterInstance, defs: dg.Definitions, file: "Path | None" = None
) -> tuple[Report, "Path"]:
    """Write the report; returns what it says and where it is.

    Args:
        file: None: below the data folder.

    Raises:
        StorageError: it cannot be written, or the catalog cannot be read.
    """
    report = collect(settings, instance, defs, _past(instance))
    file = (file or settings.data_dir / "reports" / "quality.html").resolve()
    write_page(report, file)
    return report, file


def _past(instance: dg.DagsterInstance) -> list[tuple[datetime, float]]:
    """The scores of the asset's materializations, the oldest first."""
    records = instance.fetch_materializations(KEY, limit=SHOWN_REPORTS).records
    found = []
    for record in records:
        said = record.asset_materialization.metadata if record.asset_materialization else {}
        if "score" in said and isinstance(score := said["score"].value, float):
            found.append((datetime.fromtimestamp(record.timestamp, UTC), score))
    return found[::-1]


def _metadata(report: Report, file: "Path") -> dict[str, dg.MetadataValue | int | float]:
    metadata: dict[str, dg.MetadataValue | int | float] = {
        "path": dg.MetadataValue.path(str(file)),
        "tables": len(report.tables),
        "evaluations": report.evaluations,
        "checks_failed": report.failed,
        "checks_warned": report.warned,
        "rows_in_quarantine": report.rows_in_quarantine,
    }
    return metadata | ({"score": round(report.score, 2)} if report.score is not None else {})
