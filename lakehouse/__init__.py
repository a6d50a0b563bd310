"""The lakehouse library: everything that knows no particular table or source."""
