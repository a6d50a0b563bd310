"""The one Iceberg catalog: which metadata file is each table's current one.

It is a SQLite file, or a Postgres database where `LAKEHOUSE_CATALOG_URI` names one.
"""

from lakehouse.catalog.opening import metadata_locations, open_catalog

__all__ = ["metadata_locations", "open_catalog"]
