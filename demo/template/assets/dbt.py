"""Silver and Gold: the models of `dbt_project/`."""

from assets.partitions import DAYS, MONTHS
from lakehouse.orchestration.dbt_assets import dbt_assets
from lakehouse.orchestration.dbt_project import dbt_project
from lakehouse.settings import Settings

models = dbt_assets(
    dbt_project(Settings()),
    partitions={None: None, "day": DAYS, "month": MONTHS},
    owners=["team:data"],
)
