{# Every flight Silver holds of a period that the model has is counted in it once. `period` is the model's partition
   column, flight_date or month. A month of which Silver has gained days since is due to be rebuilt and is left out. #}
{% test counts_every_flight(model, period) %}

{%- set by_month = period == 'month' %}
{%- set period_of_flight = "cast(" ~ dbt.date_trunc('month', 'flight_date') ~ " as date)" if by_month else 'flight_date' %}

with

gold as (

    select
        {{ period }} as period,
        {{ 'max(days_loaded)' if by_month else '1' }} as days,
        sum(flights) as flights,
        sum(cancelled) as cancelled
    from {{ model }}
    group by {{ period }}

),

silver as (

    select
        {{ period_of_flight }} as period,
        count(distinct flight_date) as days,
        count(*) as flights,
        count(case when is_cancelled then 1 end) as cancelled
    from {{ ref('flights') }}
    group by {{ period_of_flight }}

)

select
    gold.period,
    gold.flights as gold_flights,
    silver.flights as silver_flights,
    gold.cancelled as gold_cancelled,
    silver.cancelled as silver_cancelled
from gold
left join silver
    on gold.period = silver.period
where
    coalesce(silver.days, 0) <= gold.days
    and (
        gold.flights <> coalesce(silver.flights, 0)
        or gold.cancelled <> coalesce(silver.cancelled, 0)
    )

{% endtest %}
