{{ config(incremental_strategy='overwrite_partition', partition_by='flight_date', partition_grain='day') }}

with

flights as (

    select * from {{ ref('flights') }}
    where {{ in_partition_window('flight_date') }}

),

airport_days as (

    select
        flight_date,
        origin,
        count(*) as flights,
        count(case when not is_cancelled then 1 end) as flown,
        count(case when is_cancelled then 1 end) as cancelled,
        count(case when is_diverted then 1 end) as diverted,
        count(case when not is_known_dest then 1 end) as unknown_dest,
        count(distinct dest) as destinations,
        cast(sum(dep_delay) as bigint) as total_dep_delay,
        avg(cast(dep_delay as double)) as avg_dep_delay,
        count(case when dep_delay >= 60 then 1 end) as long_dep_delays,
        cast(sum(arr_delay) as bigint) as total_arr_delay,
        avg(cast(arr_delay as double)) as avg_arr_delay,
        count(case when arr_delay < 15 then 1 end) as on_time
    from flights
    group by
        flight_date,
        origin

)

select
    flight_date,
    origin,
    flights,
    flown,
    cancelled,
    diverted,
    unknown_dest,
    destinations,
    total_dep_delay,
    avg_dep_delay,
    long_dep_delays,
    total_arr_delay,
    avg_arr_delay,
    on_time,
    cast(on_time as double) / flights as on_time_share,
    cast(cancelled as double) / flights as cancelled_share
from airport_days
