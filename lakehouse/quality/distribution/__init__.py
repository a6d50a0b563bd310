"""The fifth dimension: whether a partition's values are spread as those of the partitions before it."""
