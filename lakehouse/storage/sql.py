"""Quoting of names and values in generated SQL."""


def identifier(name: str) -> str:
    """Quote a column, schema or table name."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def literal(value: object) -> str:
    """Quote a value as a string literal; DuckDB casts it where another type is wanted."""
    escaped = str(value).replace("'", "''")
    return f"'{escaped}'"


def qualified(table: str) -> str:
    """Quote `layer.table` part by part."""
    return ".".join(identifier(part) for part in table.split("."))
