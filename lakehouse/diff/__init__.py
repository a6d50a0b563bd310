"""The difference between two snapshots of a table: columns, rows and values."""
