"""What this lakehouse loads and builds. A new source is one new file in `bronze/`."""
