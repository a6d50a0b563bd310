{{ config(incremental_strategy='replace') }}

with

bronze_airlines as (

    select * from {{ source('bronze', 'airlines') }}

)

select
    cast(trim(carrier) as varchar) as carrier,
    {{ blank_to_null('name') }} as name
from bronze_airlines
