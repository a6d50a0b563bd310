{{ config(incremental_strategy='overwrite_partition', partition_by='month', partition_grain='month') }}

with

flights as (

    select * from {{ ref('flights') }}
    where {{ in_partition_window('flight_date') }}

),

planes as (

    select * from {{ ref('planes') }}

),

flights_with_age as (

    select
        cast({{ dbt.date_trunc('month', 'flights.flight_date') }} as date) as month,
        flights.flight_date,
        flights.carrier,
        flights.tailnum,
        flights.dep_delay,
        flights.arr_delay,
        flights.is_cancelled,
        planes.tailnum is null as is_unlisted,
        cast(extract(year from flights.flight_date) as integer) - planes.year_built as age
    from flights
    left join planes
        on flights.tailnum = planes.tailnum

),

months as (

    {{ loaded_months('flights_with_age') }}

),

flights_by_age as (

    select
        month,
        carrier,
        tailnum,
        dep_delay,
        arr_delay,
        is_cancelled,
        is_unlisted,
        case when age >= 0 then age end as age,
        case
            when age >= 25 then '25 or more'
            when age >= 20 then '20 to 24'
            when age >= 15 then '15 to 19'
            when age >= 10 then '10 to 14'
            when age >= 5 then '5 to 9'
            when age >= 0 then 'under 5'
            else 'unknown'
        end as age_band
    from flights_with_age

),

fleet_months as (

    select
        month,
        carrier,
        age_band,
        count(distinct tailnum) as planes,
        count(*) as flights,
        count(case when not is_cancelled then 1 end) as flown,
        count(case when is_cancelled then 1 end) as cancelled,
        count(case when is_unlisted then 1 end) as unlisted,
        cast(sum(age) as bigint) as total_age,
        avg(cast(age as double)) as avg_age,
        cast(sum(dep_delay) as bigint) as total_dep_delay,
        avg(cast(dep_delay as double)) as avg_dep_delay,
        cast(sum(arr_delay) as bigint) as total_arr_delay,
        avg(cast(arr_delay as double)) as avg_arr_delay
    from flights_by_age
    group by
        month,
        carrier,
        age_band

)

select
    fleet_months.month,
    fleet_months.carrier,
    fleet_months.age_band,
    fleet_months.planes,
    fleet_months.flights,
    fleet_months.flown,
    fleet_months.cancelled,
    fleet_months.unlisted,
    fleet_months.total_age,
    fleet_months.avg_age,
    fleet_months.total_dep_delay,
    fleet_months.avg_dep_delay,
    fleet_months.total_arr_delay,
    fleet_months.avg_arr_delay,
    months.days_loaded,
    months.days_in_month,
    months.days_loaded = months.days_in_month as is_complete
from fleet_months
inner join months
    on fleet_months.month = months.month
