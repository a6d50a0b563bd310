-- Tail numbers that flew and are not in planes; their flights have no age. The source lacks 721 of the year, with 50,094
-- flights.
{{ config(severity='warn') }}

with

flights as (

    select * from {{ ref('flights') }}

),

planes as (

    select * from {{ ref('planes') }}

)

select
    flights.tailnum,
    count(*) as flights
from flights
left join planes
    on flights.tailnum = planes.tailnum
where
    flights.tailnum is not null
    and planes.tailnum is null
group by flights.tailnum
