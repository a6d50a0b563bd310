-- Silver takes each moment from the schedule and the delay. The clock times the source also gives are independent of
-- that, so they must say the same. 2400 is read as 0000, and a flight leaves within its time_hour.
with

clocks as (

    select
        flight_date,
        carrier,
        flight,
        time_hour,
        sched_dep_utc,
        mod(dep_time, 2400) as dep_time,
        extract(hour from dep_local) * 100 + extract(minute from dep_local) as dep_clock,
        mod(sched_arr_time, 2400) as sched_arr_time,
        extract(hour from sched_arr_local) * 100 + extract(minute from sched_arr_local) as sched_arr_clock,
        mod(arr_time, 2400) as arr_time,
        extract(hour from arr_local) * 100 + extract(minute from arr_local) as arr_clock
    from {{ ref('flights') }}

)

select
    flight_date,
    carrier,
    flight,
    time_hour,
    sched_dep_utc,
    dep_time,
    dep_clock,
    sched_arr_time,
    sched_arr_clock,
    arr_time,
    arr_clock
from clocks
where
    sched_dep_utc < time_hour
    or sched_dep_utc >= {{ dbt.dateadd('hour', 1, 'time_hour') }}
    or dep_time <> dep_clock
    or sched_arr_time <> sched_arr_clock
    or (
        arr_time <> arr_clock
        -- A clock not yet put forward: 02:03 of 2013-03-10, written for one flight, was 03:03.
        and not (arr_time between 200 and 259 and arr_clock = arr_time + 100)
    )
