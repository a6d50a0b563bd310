"""Opening the catalog that the settings name."""

from functools import partial
from typing import TYPE_CHECKING

from lakehouse.catalog.database import Database, ask
from lakehouse.catalog.postgres import PostgresDatabase
from lakehouse.catalog.sqlite import SqliteDatabase
from lakehouse.settings import Settings
from lakehouse.storage.errors import CatalogError, StorageError, disk_reason

if TYPE_CHECKING:
    from lakehouse.catalog.client import LakeCatalog

# PyIceberg keeps tables under the catalog's name: another name would see an empty catalog.
CATALOG_NAME = "lakehouse"


def open_catalog(settings: Settings) -> "LakeCatalog":
    """Open the catalog, creating its tables at the first call.

    Raises:
        CatalogError: its database does not answer, or it is lost.
        StorageError: the data folder cannot be written.
    """
    from lakehouse.catalog.client import LakeCatalog

    database, patience = _database(settings), settings.catalog_patience_seconds
    try:
        settings.warehouse_dir.mkdir(parents=True, exist_ok=True)
        if not ask(database, database.exists, patience):
            ask(database, partial(database.create, partial(_refuse_if_lost, settings, database)), patience)
    except OSError as error:
        raise StorageError(f"The data folder cannot be written: {disk_reason(error)}") from error
    return LakeCatalog(CATALOG_NAME, database, patience, str(settings.warehouse_dir))


def metadata_locations(settings: "Settings") -> dict[str, tuple[str, str]]:
    """Each table's name and current metadata file, by its name in lower case.

    Asked of the catalog's database, once: loading each table would import PyArrow, half a second.

    Raises:
        CatalogError: the catalog cannot be read, or is lost.
    """
    database = _database(settings)
    if not ask(database, database.exists, 0):  # opening would create it
        _refuse_if_lost(settings, database)
        return {}

    from pyiceberg.catalog.sql import IcebergTables
    from sqlalchemy import select

    columns = IcebergTables.table_namespace, IcebergTables.table_name, IcebergTables.metadata_location

    def read() -> list[tuple[str, str, str | None]]:
        with database.engine.connect() as connection:
            query = select(*columns).where(IcebergTables.catalog_name == CATALOG_NAME)
            return [(layer, table, file) for layer, table, file in connection.execute(query)]

    return {
        f"{layer}.{table}".lower(): (f"{layer}.{table}", file or "")
        for layer, table, file in sorted(ask(database, read, 0))
    }


def _database(settings: Settings) -> Database:
    if settings.catalog_uri is not None:
        return PostgresDatabase(settings.catalog_uri)
    return SqliteDatabase(settings.catalog_file)


def _refuse_if_lost(settings: Settings, database: Database) -> None:
    """A catalog that vanished must not become an empty one: its tables would be begun anew, unseen.

    Raises:
        CatalogError: there is no catalog, but there are tables.
    """
    files = settings.warehouse_dir.glob("*/*/metadata/*.metadata.json")
    folder = next((file.parent.parent for file in files), None)
    if folder is None or ask(database, database.exists, 0):  # another process just made both
        return
    raise CatalogError(
        f"The catalog {database.label} is missing, but {settings.warehouse_dir} holds tables, such as "
        f"{folder.parent.name}.{folder.name}: restore the catalog from a backup, or name the right one in "
        "LAKEHOUSE_CATALOG_URI. To begin anew, move the warehouse away."
    )
