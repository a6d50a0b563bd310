-- Every flight Silver holds of a day is counted in Gold once, and no other. A day that Gold does not have yet is not
-- its claim; within a day it has, an airport on one side only fails.
with

gold as (

    select
        flight_date,
        origin,
        flights,
        cancelled,
        total_dep_delay
    from {{ ref('daily_airport_performance') }}

),

silver as (

    select
        flight_date,
        origin,
        count(*) as flights,
        count(case when is_cancelled then 1 end) as cancelled,
        cast(sum(dep_delay) as bigint) as total_dep_delay
    from {{ ref('flights') }}
    where flight_date in (select flight_date from gold)
    group by
        flight_date,
        origin

)

select
    coalesce(gold.flight_date, silver.flight_date) as flight_date,
    coalesce(gold.origin, silver.origin) as origin,
    gold.flights as gold_flights,
    silver.flights as silver_flights,
    gold.cancelled as gold_cancelled,
    silver.cancelled as silver_cancelled,
    gold.total_dep_delay as gold_total_dep_delay,
    silver.total_dep_delay as silver_total_dep_delay
from gold
full outer join silver
    on gold.flight_date = silver.flight_date
    and gold.origin = silver.origin
where
    coalesce(gold.flights, 0) <> coalesce(silver.flights, 0)
    or coalesce(gold.cancelled, 0) <> coalesce(silver.cancelled, 0)
    or coalesce(gold.total_dep_delay, 0) <> coalesce(silver.total_dep_delay, 0)
