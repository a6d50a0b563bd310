{{ config(incremental_strategy='overwrite_partition', partition_by='weather_date', partition_grain='day') }}

with

bronze_weather as (

    select * from {{ source('bronze', 'weather') }}
    where {{ in_partition_window('weather_date') }}

),

airports as (

    select * from {{ ref('airports') }}

),

observations as (

    select
        bronze_weather.weather_date,
        bronze_weather.origin as airport,
        bronze_weather.time_hour as hour_utc,
        {{ local_time('bronze_weather.time_hour', 'airports.tzone') }} as hour_local,
        {{ local_time(dbt.dateadd('hour', -1, 'bronze_weather.time_hour'), 'airports.tzone') }} as hour_before_local,
        bronze_weather.temp as temperature_f,
        bronze_weather.dewp as dew_point_f,
        bronze_weather.humid as humidity_pct,
        bronze_weather.wind_dir as wind_direction_deg,
        bronze_weather.wind_speed as wind_speed_mph,
        bronze_weather.wind_gust as wind_gust_mph,
        bronze_weather.precip as precipitation_in,
        bronze_weather.pressure as pressure_mb,
        bronze_weather.visib as visibility_mi
    from bronze_weather
    left join airports
        on bronze_weather.origin = airports.faa

)

select
    weather_date,
    airport,
    hour_utc,
    hour_local,
    -- Where the clock reads what it read an hour ago, it was put back meanwhile.
    hour_local = hour_before_local as is_repeated_hour,
    temperature_f,
    dew_point_f,
    humidity_pct,
    wind_direction_deg,
    wind_speed_mph,
    wind_gust_mph,
    precipitation_in,
    pressure_mb,
    visibility_mi,
    -- 253 mph is the strongest gust ever measured.
    coalesce(wind_speed_mph not between 0 and 253, false) as has_impossible_wind_speed
from observations
