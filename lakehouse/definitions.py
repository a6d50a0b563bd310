"""Everything Dagster loads, composed from the parts; it decides nothing else."""

import dagster as dg

import assets


def definitions() -> dg.Definitions:
    """All assets with the checks they carry.

    Steps run in the run's own process: each process pays seconds of imports, and what is heavy
    (dbt, DuckDB) is outside Python's lock anyway. Runs are parallel, within the queue's limit.
    """
    return dg.Definitions(assets=dg.load_assets_from_package_module(assets), executor=dg.in_process_executor)


defs = definitions()
