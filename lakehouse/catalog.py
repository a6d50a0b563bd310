"""The one Iceberg catalog, opened from the settings.

SQLite runs in WAL mode with a busy timeout, so that readers never wait for writers and
parallel runs wait for each other instead of failing with `database is locked`.
"""

from typing import TYPE_CHECKING, Any

from filelock import FileLock

from lakehouse.settings import Settings
from lakehouse.storage.errors import StorageError

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog

# PyIceberg keeps tables under the catalog's name: another name would see an empty catalog.
CATALOG_NAME = "lakehouse"
BUSY_TIMEOUT_SECONDS = 60


def open_catalog(settings: Settings) -> "SqlCatalog":
    """Open the catalog, creating its database at the first call.

    Raises:
        OSError: the data folder cannot be written.
    """
    from pyiceberg.catalog.sql import SqlCatalog

    settings.warehouse_dir.mkdir(parents=True, exist_ok=True)
    properties = {
        "uri": f"sqlite:///{settings.catalog_file}?timeout={BUSY_TIMEOUT_SECONDS}",
        "warehouse": str(settings.warehouse_dir),
        "init_catalog_tables": "false",
    }
    if not settings.catalog_file.exists():
        _create_database(settings, properties)
    return SqlCatalog(CATALOG_NAME, **properties)


def metadata_locations(settings: "Settings") -> dict[str, tuple[str, str]]:
    """Each table's name and current metadata file, by its name in lower case.

    Asked of the catalog's database: loading each table would import PyArrow, half a second.

    Raises:
        StorageError: the catalog cannot be read.
    """
    if not settings.catalog_file.exists():  # opening would create it
        return {}

    from pyiceberg.catalog.sql import IcebergTables
    from sqlalchemy import select
    from sqlalchemy.exc import SQLAlchemyError

    columns = IcebergTables.table_namespace, IcebergTables.table_name, IcebergTables.metadata_location
    try:
        with open_catalog(settings).engine.connect() as connection:
            rows = connection.execute(
                select(*columns).where(IcebergTables.catalog_name == CATALOG_NAME)
            ).all()
    except (SQLAlchemyError, OSError) as error:
        reason = getattr(error, "orig", None) or error
        raise StorageError(
            f"The catalog {settings.catalog_file} cannot be read ({reason}): "
            "check its permissions, or restore it from a backup."
        ) from error
    return {
        f"{layer}.{table}".lower(): (f"{layer}.{table}", file or "") for layer, table, file in sorted(rows)
    }


def _create_database(settings: Settings, properties: dict[str, Any]) -> None:
    """Create the catalog's tables once, however many first runs start together."""
    from pyiceberg.catalog.sql import SqlCatalog
    from sqlalchemy import create_engine, text

    with FileLock(settings.catalog_file.with_suffix(".lock")):
        if settings.catalog_file.exists():
            return
        # Built aside and renamed: whoever sees the file sees a complete catalog.
        partial = settings.catalog_file.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        engine = create_engine(f"sqlite:///{partial}")
        with engine.connect() as connection:
            connection.execute(text("pragma journal_mode=wal"))
        engine.dispose()
        catalog = SqlCatalog(
            CATALOG_NAME,
            **properties | {"uri": f"sqlite:///{partial}", "init_catalog_tables": "true"},
        )
        catalog.engine.dispose()
        partial.rename(settings.catalog_file)
