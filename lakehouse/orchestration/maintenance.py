"""`lakehouse maintain` as a job: what no one needs any more is removed where the UI shows it."""

import dagster as dg

from lakehouse.settings import Settings


@dg.op(description="Removes old files that no snapshot names, and what killed runs left.")
def remove_leftovers(context: dg.OpExecutionContext) -> None:
    """Maintain all tables; says what was removed of each."""
    from lakehouse.maintain import maintain

    removed = maintain(Settings(), None, dry_run=False)
    for one in removed:
        context.log.info(f"{one.what}: {one.files:,} files, {one.size_bytes:,} bytes")
    context.add_output_metadata(
        {"files": sum(one.files for one in removed), "bytes": sum(one.size_bytes for one in removed)}
    )


@dg.job(name="maintenance", description="Removes what no snapshot, run or person needs any more.")
def maintenance_job() -> None:
    """One step."""
    remove_leftovers()


def maintenance_schedule(cron: str, timezone: str) -> dg.ScheduleDefinition:
    """Maintains all tables."""
    return dg.ScheduleDefinition(
        name="weekly_maintenance",
        job=maintenance_job,
        cron_schedule=cron,
        execution_timezone=timezone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
    )
