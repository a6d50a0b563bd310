"""Everything Dagster loads, composed from the parts; it decides nothing else."""

import dagster as dg

import assets
from assets.schedules import schedules
from lakehouse.orchestration.automation import automation_sensor, with_automation
from lakehouse.orchestration.file_sensor import file_sensors
from lakehouse.orchestration.rollback import rollback_job
from lakehouse.orchestration.table_checks import table_check_assets
from lakehouse.settings import Settings


def definitions() -> dg.Definitions:
    """All assets with the checks they carry, the checks of their tables as a whole, and what runs them.

    Steps run in the run's own process: each process pays seconds of imports, and what is heavy
    (dbt, DuckDB) is outside Python's lock anyway. Runs are parallel, within the queue's limit.
    """
    loaded = with_automation(dg.load_assets_from_package_module(assets))
    return dg.Definitions(
        assets=loaded,
        asset_checks=table_check_assets(loaded, Settings().contracts_dir),
        jobs=[rollback_job()],
        sensors=[*file_sensors(loaded), automation_sensor()],
        schedules=schedules(loaded),
        executor=dg.in_process_executor,
    )


defs = definitions()
