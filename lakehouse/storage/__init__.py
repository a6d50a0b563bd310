"""The Iceberg write path: one way to write a table, used by dlt and dbt alike.

Knows neither dlt, dbt, Soda nor Dagster. Rows arrive as a query on a DuckDB connection, are
staged as Parquet files and become visible in one commit.
"""
