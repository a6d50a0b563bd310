"""What a row of `ops.profiles` is, and how profiles become rows and rows profiles again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from lakehouse.quality.distribution.profile import QUANTILES, ColumnProfile, PartitionProfile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE_KIND = "table"  # of the one row a partition that tells only its rows; its column_name is empty

COLUMNS: Mapping[str, str] = {
    "table_name": "varchar",
    "partition": "date",
    "column_name": "varchar",
    "kind": "varchar",  # table, number or category
    "rows": "bigint",  # of the partition
    "nulls": "bigint",  # without a value; of numbers also NaN and the infinities
    "distinct_values": "bigint",
    "mean": "double",
    "stddev": "double",
    "quantiles": "double[]",  # at `QUANTILES`: min, p1, p5, p10, p25, p50, p75, p90, p95, p99, max
    "points": "double[]",  # of a number, ascending
    "labels": "varchar[]",  # of a category, the most frequent first
    "counts": "bigint[]",  # rows above the point before and up to this one, or of this label
    "other": "bigint",  # rows of a category that has none of the labels
    "exact": "boolean",  # whether each value is one of the points or labels
    "snapshot_id": "bigint",  # of the table, that published the partition
    "run_id": "varchar",
    "profiled_at": "timestamptz",
}


@dataclass(frozen=True)
class ProfileRows:
    """Rows for a write, handed over as Arrow."""

    connection: "DuckDBPyConnection"
    rows: Sequence[Mapping[str, Any]]

    def query(self, partitions: Sequence[date] | None) -> str:
        """All rows, with every column in its type."""
        import pyarrow as pa  # type: ignore[import-untyped]

        schema = pa.schema([(name, _arrow_type(kind)) for name, kind in COLUMNS.items()])
        self.connection.register("profiles_to_write", pa.Table.from_pylist(self.rows, schema))
        return f"select {', '.join(COLUMNS)} from profiles_to_write"


def _arrow_type(kind: str) -> Any:
    import pyarrow as pa

    if kind.endswith("[]"):
        return pa.list_(_arrow_type(kind.removesuffix("[]")))
    return {
        "varchar": pa.string(),
        "date": pa.date32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "timestamptz": pa.timestamp("us", "UTC"),
    }[kind]


def rows_of(profile: PartitionProfile) -> Iterator[dict[str, Any]]:
    """The rows of a partition, without what all of them say alike."""
    yield {"column_name": "", "kind": TABLE_KIND}
    for name, column in profile.columns.items():
        yield {
            "column_name": name,
            "kind": column.kind,
            "nulls": column.nulls,
            "distinct_values": column.distinct,
            "mean": column.mean,
            "stddev": column.stddev,
            "quantiles": list(column.quantiles.values()) or None,
            "points": list(column.points) if column.kind == "number" else None,
            "labels": list(column.values) if column.kind == "category" else None,
            "counts": list(column.counts),
            "other": column.other,
            "exact": column.exact,
        }


def profiles_of(rows: Iterable[Mapping[str, Any]]) -> dict[date, PartitionProfile]:
    """The profiles that rows hold, by partition."""
    sizes: dict[date, int] = {}
    columns: dict[date, dict[str, ColumnProfile]] = {}
    for row in rows:
        day = row["partition"]
        sizes[day] = row["rows"]
        if row["kind"] != TABLE_KIND:
            columns.setdefault(day, {})[row["column_name"]] = ColumnProfile(
                kind=row["kind"],
                nulls=row["nulls"],
                distinct=row["distinct_values"],
                counts=tuple(row["counts"]),
                points=tuple(row["points"] or ()),
                values=tuple(row["labels"] or ()),
                other=row["other"],
                exact=row["exact"],
                mean=row["mean"],
                stddev=row["stddev"],
                quantiles=dict(zip(QUANTILES, row["quantiles"] or [], strict=False)),
            )
    return {day: PartitionProfile(day, size, columns.get(day, {})) for day, size in sizes.items()}
