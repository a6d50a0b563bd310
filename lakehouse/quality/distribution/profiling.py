"""Profiles of partitions, computed by DuckDB in one scan of their rows."""

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from lakehouse.quality.distribution.profile import (
    MAX_VALUES,
    POINTS,
    QUANTILES,
    ColumnProfile,
    Kind,
    PartitionProfile,
)
from lakehouse.storage.sql import identifier

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE = -1  # what groups the rows by partition alone

# Each value with its rows, all columns at once; from here on no row is looked at again.
_COUNTED = """
with profiled as (
    select
        {partition} as day
        {columns}
    from ({relation})
),

counted as (
    select
        day,
        {which} as which,
        {number} as number,
        {text} as text,
        count(*) as n
    from profiled
    group by grouping sets ({sets})
),
"""
_SUMMARIES = """
ordered as (
    select
        day,
        which,
        number,
        n,
        sum(n) over (partition by day, which order by number) as up_to,
        sum(n) over (partition by day, which) as total,
        count(*) over (partition by day, which) as distinct_values,
        sum(number * n) over (partition by day, which) / sum(n) over (partition by day, which) as mean
    from counted
    where number is not null
),

points as (
    select
        day,
        which,
        max(number) as point,
        sum(n) as n
    from ordered
    group by
        day,
        which,
        case when distinct_values <= {max_values} then number else (up_to - n) * {points} // total end
),

lists as (
    select
        day,
        which,
        list(point order by point) as points,
        list(n::bigint order by point) as counts
    from points
    group by day, which
),

numbers as (
    select
        day,
        which,
        any_value(distinct_values) as distinct_values,
        any_value(mean) as mean,
        sqrt(sum(n * (number - mean) ** 2) / nullif(any_value(total) - 1, 0)) as stddev,
        [{quantiles}] as quantiles
    from ordered
    group by day, which
),

ranked as (
    select
        day,
        which,
        text,
        n,
        row_number() over (partition by day, which order by n desc, text) as place
    from counted
    where text is not null
),

categories as (
    select
        day,
        which,
        count(*) as distinct_values,
        list(text order by place) filter (place <= {max_values}) as texts,
        list(n order by place) filter (place <= {max_values}) as counts,
        coalesce(sum(n) filter (place > {max_values}), 0)::bigint as other
    from ranked
    group by day, which
),

sizes as (
    select
        day,
        which,
        sum(n)::bigint as n,
        coalesce(sum(n) filter (number is null and text is null), 0)::bigint as nulls
    from counted
    group by day, which
)

select
    sizes.day,
    sizes.which,
    sizes.n,
    sizes.nulls,
    coalesce(numbers.distinct_values, categories.distinct_values, 0),
    coalesce(lists.counts, categories.counts, []),
    coalesce(lists.points, []),
    coalesce(categories.texts, []),
    coalesce(categories.other, 0),
    numbers.mean,
    numbers.stddev,
    numbers.quantiles
from sizes
left join numbers using (day, which)
left join lists using (day, which)
left join categories using (day, which)
order by sizes.day, sizes.which
"""


def profile(
    connection: "DuckDBPyConnection", relation: str, partition: str, columns: Mapping[str, Kind]
) -> dict[date, PartitionProfile]:
    """Profile each partition of the rows that a query gives.

    Args:
        relation: the query.
        partition: its column whose dates are the partitions.
        columns: what to profile.

    Raises:
        duckdb.Error: the rows cannot be read, lack a column, or have texts where numbers should be.
    """
    names = list(columns)
    rows: dict[date, int] = {}
    found: dict[date, dict[str, ColumnProfile]] = {}
    for day, which, count, *summary in connection.execute(_query(relation, partition, columns)).fetchall():
        if which == TABLE:
            rows[day] = count
        else:
            found.setdefault(day, {})[names[which]] = _column(columns[names[which]], summary)
    return {day: PartitionProfile(day, count, found.get(day, {})) for day, count in rows.items()}


def _query(relation: str, partition: str, columns: Mapping[str, Kind]) -> str:
    casts = [_cast(identifier(name), kind) for name, kind in columns.items()]
    taken = {kind: [i for i, name in enumerate(columns) if columns[name] == kind] for kind in Kind.__args__}  # type: ignore[attr-defined]
    counted = _COUNTED.format(
        partition=identifier(partition),
        columns="".join(f",\n        {cast} as c{i}" for i, cast in enumerate(casts)),
        relation=relation,
        which=_first({f"grouping(c{i}) = 0": str(i) for i in range(len(casts))}, str(TABLE)),
        number=_first({f"grouping(c{i}) = 0": f"c{i}" for i in taken["number"]}, "null::double"),
        text=_first({f"grouping(c{i}) = 0": f"c{i}" for i in taken["category"]}, "null::varchar"),
        sets=", ".join(["(day)", *(f"(day, c{i})" for i in range(len(casts)))]),
    )
    quantiles = ", ".join(f"min(number) filter (up_to >= {share} * total)" for share in QUANTILES.values())
    return counted + _SUMMARIES.format(max_values=MAX_VALUES, points=POINTS, quantiles=quantiles)


def _cast(column: str, kind: Kind) -> str:
    if kind == "category":
        return f"cast({column} as varchar)"
    return f"case when isfinite(cast({column} as double)) then cast({column} as double) end"


def _first(cases: Mapping[str, str], otherwise: str) -> str:
    if not cases:
        return otherwise
    whens = " ".join(f"when {condition} then {value}" for condition, value in cases.items())
    return f"case {whens} else {otherwise} end"


def _column(kind: Kind, summary: list[Any]) -> ColumnProfile:
    nulls, distinct, counts, points, values, other, mean, stddev, quantiles = summary
    return ColumnProfile(
        kind=kind,
        nulls=nulls,
        distinct=distinct,
        counts=tuple(counts),
        points=tuple(points),
        values=tuple(values),
        other=other,
        exact=distinct <= MAX_VALUES,
        mean=mean,
        stddev=stddev,
        quantiles=dict(zip(QUANTILES, quantiles or [], strict=False)),
    )
