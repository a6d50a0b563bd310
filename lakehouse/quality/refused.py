"""Staged rows that were not published, kept where a person can look at them.

They are the write's own Parquet files, below `data/refused/<layer>.<table>/`; `lakehouse query` shows
them as `refused.<layer>_<table>`. Maintenance removes them.
"""

import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.storage.prestaged import link
from lakehouse.storage.sql import literal

if TYPE_CHECKING:
    from lakehouse.settings import Settings
    from lakehouse.storage.staging import StagedFile

LAYER = "refused"
FILE = "lakehouse_file"
WHOLE_TABLE = "all"


def refused_view(table: str) -> str:
    """The name under which a table's refused rows are queried."""
    return f"{LAYER}.{table.replace('.', '_')}"


def refused_dir(settings: "Settings") -> Path:
    """Where they are."""
    return settings.data_dir.resolve() / LAYER


def keep_refused(
    settings: "Settings",
    table: str,
    run_id: str,
    partition: date | None,
    files: Sequence["StagedFile"],
) -> Path:
    """Keep what a run was not to publish of a partition, instead of what an earlier attempt left."""
    folder = (
        refused_dir(settings) / table / f"run_id={run_id}" / f"refused_partition={partition or WHOLE_TABLE}"
    )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, file in enumerate(files):
        link(Path(file.path), folder / f"{number}.parquet")
    return folder


def refused_tables(settings: "Settings") -> dict[str, Path]:
    """The folders of refused rows, by `layer.table`."""
    folder = refused_dir(settings)
    if not folder.is_dir():
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if any(path.rglob("*.parquet"))}


def refused_rows(folder: Path) -> str:
    """SQL of the rows in a table's folder, with the columns `run_id` and `refused_partition`, both text."""
    # Not DuckDB's own reading of such folders: one above them may have a = in its name too.
    pattern = literal(folder / "*" / "*" / "*.parquet")
    run_id, partition = (f"split_part(parse_path({FILE})[{place}], '=', 2)" for place in (-3, -2))
    return (
        f"select * exclude ({FILE}), {run_id} as run_id, {partition} as refused_partition from"
        f" read_parquet({pattern}, union_by_name = true, hive_partitioning = false, filename = '{FILE}')"
    )


def refused_partitions(settings: "Settings") -> list[Path]:
    """The folders that each hold what a run was not to publish of a partition."""
    return sorted(path for path in refused_dir(settings).glob("*/*/*") if path.is_dir())
