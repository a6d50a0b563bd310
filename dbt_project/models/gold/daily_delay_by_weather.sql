{{ config(incremental_strategy='overwrite_partition', partition_by='flight_date', partition_grain='day') }}

with

flights as (

    select * from {{ ref('flights') }}
    where {{ in_partition_window('flight_date') }}

),

weather as (

    select * from {{ ref('weather') }}
    where {{ in_partition_window('weather_date') }}

),

conditions as (

    select
        airport,
        hour_utc,
        -- The flight categories of US aviation: LIFR, IFR, MVFR, VFR.
        case
            when visibility_mi < 1 then 'very poor'
            when visibility_mi < 3 then 'poor'
            when visibility_mi <= 5 then 'marginal'
            when visibility_mi > 5 then 'good'
        end as visibility,
        -- The rates of rain of the National Weather Service, in inches an hour.
        case
            when precipitation_in > 0.3 then 'heavy'
            when precipitation_in >= 0.1 then 'moderate'
            when precipitation_in > 0 then 'light'
            when precipitation_in = 0 then 'none'
        end as precipitation,
        -- Beaufort 6, a strong breeze, begins at 25 mph, and 4, a moderate one, at 13.
        case
            when has_impossible_wind_speed then null
            when wind_speed_mph >= 25 then 'strong'
            when wind_speed_mph >= 13 then 'moderate'
            when wind_speed_mph >= 0 then 'light'
        end as wind
    from weather

),

flights_in_weather as (

    select
        flights.flight_date,
        flights.origin,
        coalesce(conditions.visibility, 'unknown') as visibility,
        coalesce(conditions.precipitation, 'unknown') as precipitation,
        coalesce(conditions.wind, 'unknown') as wind,
        flights.dep_delay,
        flights.is_cancelled
    from flights
    left join conditions
        on flights.origin = conditions.airport
        and flights.time_hour = conditions.hour_utc

),

delays as (

    select
        flight_date,
        origin,
        visibility,
        precipitation,
        wind,
        count(*) as flights,
        count(case when not is_cancelled then 1 end) as flown,
        count(case when is_cancelled then 1 end) as cancelled,
        cast(sum(dep_delay) as bigint) as total_dep_delay,
        avg(cast(dep_delay as double)) as avg_dep_delay,
        count(case when dep_delay >= 60 then 1 end) as long_dep_delays
    from flights_in_weather
    group by
        flight_date,
        origin,
        visibility,
        precipitation,
        wind

)

select
    flight_date,
    origin,
    visibility,
    precipitation,
    wind,
    flights,
    flown,
    cancelled,
    total_dep_delay,
    avg_dep_delay,
    long_dep_delays,
    cast(cancelled as double) / flights as cancelled_share
from delays
