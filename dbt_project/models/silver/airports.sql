{{ config(incremental_strategy='replace') }}

with

bronze_airports as (

    select * from {{ source('bronze', 'airports') }}

)

select
    cast(trim(faa) as varchar) as faa,
    {{ blank_to_null('name') }} as name,
    cast(lat as double) as lat,
    cast(lon as double) as lon,
    cast(alt as integer) as alt,
    cast(tz as integer) as tz,
    {{ blank_to_null('dst') }} as dst,
    {{ blank_to_null('tzone') }} as tzone
from bronze_airports
