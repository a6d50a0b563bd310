-- From gate to gate takes no less than the time in the air, and no flight from New York is scheduled for half a day
-- or more: a day taken wrong shows here.
select
    flight_date,
    carrier,
    flight,
    dep_utc,
    arr_utc,
    air_time,
    sched_dep_utc,
    sched_arr_utc
from {{ ref('flights') }}
where
    arr_utc <= dep_utc
    or arr_utc < {{ dbt.dateadd('minute', 'air_time', 'dep_utc') }}
    or sched_arr_utc <= sched_dep_utc
    or sched_arr_utc >= {{ dbt.dateadd('hour', 12, 'sched_dep_utc') }}
