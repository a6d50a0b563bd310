{{ config(incremental_strategy='replace') }}

with

bronze_planes as (

    select * from {{ source('bronze', 'planes') }}

)

select
    cast(trim(tailnum) as varchar) as tailnum,
    cast(year as integer) as year_built,
    {{ blank_to_null('type') }} as plane_type,
    {{ blank_to_null('manufacturer') }} as manufacturer,
    {{ blank_to_null('model') }} as model,
    cast(engines as integer) as engines,
    {{ blank_to_null('engine') }} as engine_type,
    cast(seats as integer) as seats,
    cast(speed as integer) as cruise_speed_mph
from bronze_planes
