-- Silver takes the clock's time from the instant. The source's own day and hour are independent of that, so they must
-- say the same.
with

silver as (

    select * from {{ ref('weather') }}

),

bronze as (

    select * from {{ source('bronze', 'weather') }}

)

select
    silver.airport,
    silver.hour_utc,
    silver.hour_local,
    bronze.weather_date,
    bronze.hour
from silver
inner join bronze
    on silver.airport = bronze.origin
    and silver.hour_utc = bronze.time_hour
where
    cast(silver.hour_local as date) <> bronze.weather_date
    or extract(hour from silver.hour_local) <> bronze.hour
