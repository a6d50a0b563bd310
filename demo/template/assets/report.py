"""The quality report."""

from lakehouse.operations.report_asset import report_asset

quality_report = report_asset(owners=["team:data"])
