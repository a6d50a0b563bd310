"""The demo: seeds the sources and runs the whole lakehouse once. Nothing else knows it."""
