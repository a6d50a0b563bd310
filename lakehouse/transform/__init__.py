"""Transformation: dbt on an in-memory DuckDB that reads and writes the lakehouse's Iceberg tables."""
