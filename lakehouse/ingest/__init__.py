"""Ingestion: dlt extracts, this project's dlt destination commits to Bronze.

Knows no Dagster: a source can be loaded by hand with `lakehouse.ingest.load.load`.
"""
