{{ config(incremental_strategy='overwrite_partition', partition_by='flight_date', partition_grain='day') }}

with

bronze_flights as (

    select * from {{ source('bronze', 'flights') }}
    where {{ in_partition_window('flight_date') }}

),

airports as (

    select * from {{ ref('airports') }}

),

scheduled as (

    select
        bronze_flights.flight_date,
        bronze_flights.time_hour,
        bronze_flights.carrier,
        bronze_flights.flight,
        bronze_flights.tailnum,
        bronze_flights.origin,
        bronze_flights.dest,
        bronze_flights.sched_dep_time,
        bronze_flights.dep_time,
        bronze_flights.dep_delay,
        bronze_flights.sched_arr_time,
        bronze_flights.arr_time,
        bronze_flights.arr_delay,
        bronze_flights.air_time,
        bronze_flights.distance,
        origin_airports.tzone as origin_zone,
        dest_airports.tzone as dest_zone,
        dest_airports.faa is not null as is_known_dest,
        {{ instant_on(
            'bronze_flights.flight_date', 'bronze_flights.sched_dep_time', 'origin_airports.tzone'
        ) }} as sched_dep_utc
    from bronze_flights
    left join airports as origin_airports
        on bronze_flights.origin = origin_airports.faa
    left join airports as dest_airports
        on bronze_flights.dest = dest_airports.faa

),

departed as (

    select
        flight_date,
        time_hour,
        carrier,
        flight,
        tailnum,
        origin,
        dest,
        sched_dep_time,
        dep_time,
        dep_delay,
        sched_arr_time,
        arr_time,
        arr_delay,
        air_time,
        distance,
        origin_zone,
        dest_zone,
        is_known_dest,
        sched_dep_utc,
        -- The delay tells the day, and the right 01:30 of the night the clocks go back; dep_time can do neither.
        {{ dbt.dateadd('minute', 'dep_delay', 'sched_dep_utc') }} as dep_utc,
        -- No flight is scheduled for as long as a day, so the next time the clock reads it is the one meant.
        {{ instant_after('sched_dep_utc', 'sched_arr_time', 'dest_zone') }} as sched_arr_utc
    from scheduled

),

arrived as (

    select
        flight_date,
        time_hour,
        carrier,
        flight,
        tailnum,
        origin,
        dest,
        sched_dep_time,
        dep_time,
        dep_delay,
        sched_arr_time,
        arr_time,
        arr_delay,
        air_time,
        distance,
        origin_zone,
        dest_zone,
        is_known_dest,
        sched_dep_utc,
        dep_utc,
        sched_arr_utc,
        -- A diverted flight that reached its destination after all has a time and no delay.
        coalesce(
            {{ dbt.dateadd('minute', 'arr_delay', 'sched_arr_utc') }},
            {{ instant_after('dep_utc', 'arr_time', 'dest_zone') }}
        ) as arr_utc
    from departed

)

select
    flight_date,
    time_hour,
    carrier,
    flight,
    tailnum,
    origin,
    dest,
    sched_dep_time,
    {{ local_time('sched_dep_utc', 'origin_zone') }} as sched_dep_local,
    sched_dep_utc,
    dep_time,
    {{ local_time('dep_utc', 'origin_zone') }} as dep_local,
    dep_utc,
    dep_delay,
    sched_arr_time,
    {{ local_time('sched_arr_utc', 'dest_zone') }} as sched_arr_local,
    sched_arr_utc,
    arr_time,
    {{ local_time('arr_utc', 'dest_zone') }} as arr_local,
    arr_utc,
    arr_delay,
    air_time,
    distance,
    dep_time is null as is_cancelled,
    dep_time is not null and arr_delay is null as is_diverted,
    is_known_dest
from arrived
