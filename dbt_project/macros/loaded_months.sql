{#- The months of `flights`, which has a `month` and a `flight_date`: how many of their days are there. Over all flights,
    for an airline or a route that does not fly on a day has not lost it. -#}
{% macro loaded_months(flights) -%}
    select
        month,
        count(distinct flight_date) as days_loaded,
        cast(extract(day from {{ dbt.last_day('month', 'month') }}) as bigint) as days_in_month
    from {{ flights }}
    group by month
{%- endmacro %}
