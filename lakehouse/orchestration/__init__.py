"""Dagster: the asset graph, its partitions and what they report."""
