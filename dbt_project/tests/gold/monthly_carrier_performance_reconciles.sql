-- Every flight Silver holds of a month is counted in Gold once, and no other. A month of which Silver has gained days
-- since is due to be rebuilt and is left out; one of which it has lost days is not, and fails.
with

gold as (

    select
        month,
        carrier,
        flights,
        cancelled,
        total_dep_delay,
        days_loaded
    from {{ ref('monthly_carrier_performance') }}

),

flights_by_month as (

    select
        cast({{ dbt.date_trunc('month', 'flight_date') }} as date) as month,
        flight_date,
        carrier,
        is_cancelled,
        dep_delay
    from {{ ref('flights') }}

),

silver_months as (

    select
        month,
        count(distinct flight_date) as days
    from flights_by_month
    group by month

),

claimed as (

    select
        gold.month,
        gold.carrier,
        gold.flights,
        gold.cancelled,
        gold.total_dep_delay
    from gold
    left join silver_months
        on gold.month = silver_months.month
    where coalesce(silver_months.days, 0) <= gold.days_loaded

),

silver as (

    select
        month,
        carrier,
        count(*) as flights,
        count(case when is_cancelled then 1 end) as cancelled,
        cast(sum(dep_delay) as bigint) as total_dep_delay
    from flights_by_month
    where month in (select month from claimed)
    group by
        month,
        carrier

)

select
    coalesce(claimed.month, silver.month) as month,
    coalesce(claimed.carrier, silver.carrier) as carrier,
    claimed.flights as gold_flights,
    silver.flights as silver_flights,
    claimed.cancelled as gold_cancelled,
    silver.cancelled as silver_cancelled,
    claimed.total_dep_delay as gold_total_dep_delay,
    silver.total_dep_delay as silver_total_dep_delay
from claimed
full outer join silver
    on claimed.month = silver.month
    and claimed.carrier = silver.carrier
where
    coalesce(claimed.flights, 0) <> coalesce(silver.flights, 0)
    or coalesce(claimed.cancelled, 0) <> coalesce(silver.cancelled, 0)
    or coalesce(claimed.total_dep_delay, 0) <> coalesce(silver.total_dep_delay, 0)
