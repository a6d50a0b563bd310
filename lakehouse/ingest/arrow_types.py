"""Arrow tables as Parquet that DuckDB reads whole: what it would cut or misread goes as text.

Tried with DuckDB 1.5: it reads a zoned nanosecond time as microseconds, a 256-bit decimal as a
wrong number and a duration as a bare one.
"""

from contextlib import suppress
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from lakehouse.ingest.errors import SourceError

MOST_DIGITS = 38


def readable(table: pa.Table, shown: str) -> tuple[pa.Table, dict[str, str]]:
    """The table without its all-null columns of no type, and the SQL type of each column that is now text.

    Raises:
        SourceError: a column has a type that no table holds.
    """
    texts: dict[str, str] = {}
    names, columns = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_null(field.type):
            continue  # it has no values, and says no type
        made, is_ = _readable(column, field.name, shown)
        if is_ is not None:
            texts[field.name] = is_
        names.append(field.name)
        columns.append(made)
    if not columns:  # rows of nothing are rows
        return pa.table({"lakehouse_row": pa.nulls(table.num_rows, pa.int64())}), {}
    return pa.table(columns, names=names), texts


def _readable(column: Any, name: str, shown: str) -> tuple[Any, str | None]:  # noqa: PLR0911 - a case a type
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _readable(column.cast(kind.storage_type), name, shown)
    if pa.types.is_dictionary(kind):
        return _readable(column.cast(kind.value_type), name, shown)
    if pa.types.is_run_end_encoded(kind):
        return _readable(pa.chunked_array([pa.compute.run_end_decode(c) for c in column.chunks]), name, shown)
    if pa.types.is_decimal256(kind):
        return _narrowed(
            column, pa.decimal128(MOST_DIGITS, kind.scale), f"decimal({MOST_DIGITS}, {kind.scale})"
        )
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return _narrowed(column, pa.time64("us"), "time")
    if pa.types.is_timestamp(kind):
        if kind.tz:  # the instant is what counts; its text names UTC
            column = column.cast(pa.timestamp(kind.unit, "UTC"))
        return _narrowed(
            column, pa.timestamp("us", kind.tz and "UTC"), "timestamptz" if kind.tz else "timestamp"
        )
    if pa.types.is_float16(kind):
        return column.cast(pa.float32()), None
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return column.cast(pa.string() if pa.types.is_string_view(kind) else pa.binary()), None
    if pa.types.is_duration(kind) or pa.types.is_interval(kind) or pa.types.is_union(kind):
        raise SourceError(
            f"{shown}: column {name} is of type {kind}, which Iceberg does not have. "
            "Have the source give it as a number or as text."
        )
    return column, None


def _narrowed(column: Any, kind: Any, sql: str) -> tuple[Any, str | None]:
    """The column with a type that tables have if it loses nothing; else as text, to name its value."""
    with suppress(pa.ArrowInvalid):
        made = column.cast(kind)
        if made.cast(column.type).equals(column):  # of a time, a cast drops the nanoseconds silently
            return made, None
    return column.cast(pa.string()), sql
