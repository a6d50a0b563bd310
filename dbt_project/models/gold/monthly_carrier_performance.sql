{{ config(incremental_strategy='overwrite_partition', partition_by='month', partition_grain='month') }}

with

flights as (

    select * from {{ ref('flights') }}
    where {{ in_partition_window('flight_date') }}

),

airlines as (

    select * from {{ ref('airlines') }}

),

flights_by_month as (

    select
        cast({{ dbt.date_trunc('month', 'flight_date') }} as date) as month,
        flight_date,
        carrier,
        dep_delay,
        arr_delay,
        distance,
        is_cancelled,
        is_diverted
    from flights

),

months as (

    {{ loaded_months('flights_by_month') }}

),

carrier_months as (

    select
        month,
        carrier,
        count(*) as flights,
        count(case when not is_cancelled then 1 end) as flown,
        count(case when is_cancelled then 1 end) as cancelled,
        count(case when is_diverted then 1 end) as diverted,
        cast(sum(dep_delay) as bigint) as total_dep_delay,
        avg(cast(dep_delay as double)) as avg_dep_delay,
        cast(sum(arr_delay) as bigint) as total_arr_delay,
        avg(cast(arr_delay as double)) as avg_arr_delay,
        count(case when arr_delay < 15 then 1 end) as on_time,
        cast(sum(case when is_cancelled then 0 else distance end) as bigint) as total_distance
    from flights_by_month
    group by
        month,
        carrier

)

select
    carrier_months.month,
    carrier_months.carrier,
    airlines.name as carrier_name,
    carrier_months.flights,
    carrier_months.flown,
    carrier_months.cancelled,
    carrier_months.diverted,
    carrier_months.total_dep_delay,
    carrier_months.avg_dep_delay,
    carrier_months.total_arr_delay,
    carrier_months.avg_arr_delay,
    carrier_months.on_time,
    cast(carrier_months.on_time as double) / carrier_months.flights as on_time_share,
    carrier_months.total_distance,
    months.days_loaded,
    months.days_in_month,
    months.days_loaded = months.days_in_month as is_complete
from carrier_months
inner join months
    on carrier_months.month = months.month
left join airlines
    on carrier_months.carrier = airlines.carrier
