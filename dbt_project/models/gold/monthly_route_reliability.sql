{{ config(incremental_strategy='overwrite_partition', partition_by='month', partition_grain='month') }}

with

flights as (

    select * from {{ ref('flights') }}
    where {{ in_partition_window('flight_date') }}

),

airports as (

    select * from {{ ref('airports') }}

),

flights_by_month as (

    select
        cast({{ dbt.date_trunc('month', 'flight_date') }} as date) as month,
        flight_date,
        origin,
        dest,
        carrier,
        arr_delay,
        is_cancelled,
        is_diverted
    from flights

),

months as (

    {{ loaded_months('flights_by_month') }}

),

route_months as (

    select
        month,
        origin,
        dest,
        count(distinct carrier) as carriers,
        count(*) as flights,
        count(case when not is_cancelled then 1 end) as flown,
        count(case when is_cancelled then 1 end) as cancelled,
        count(case when is_diverted then 1 end) as diverted,
        cast(sum(arr_delay) as bigint) as total_arr_delay,
        avg(cast(arr_delay as double)) as avg_arr_delay,
        cast(percentile_cont(0.5) within group (order by arr_delay) as double) as median_arr_delay,
        cast(percentile_cont(0.9) within group (order by arr_delay) as double) as p90_arr_delay,
        count(case when arr_delay < 15 then 1 end) as on_time
    from flights_by_month
    group by
        month,
        origin,
        dest

)

select
    route_months.month,
    route_months.origin,
    route_months.dest,
    airports.name as dest_name,
    route_months.carriers,
    route_months.flights,
    route_months.flown,
    route_months.cancelled,
    route_months.diverted,
    route_months.total_arr_delay,
    route_months.avg_arr_delay,
    route_months.median_arr_delay,
    route_months.p90_arr_delay,
    route_months.on_time,
    cast(route_months.on_time as double) / route_months.flights as on_time_share,
    months.days_loaded,
    months.days_in_month,
    months.days_loaded = months.days_in_month as is_complete
from route_months
inner join months
    on route_months.month = months.month
left join airports
    on route_months.dest = airports.faa
