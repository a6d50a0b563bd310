{#- Clock times written as integers (517 is 05:17; 2400 is the midnight that ends a day), and the instants they mean.
    A local time is a timestamp without zone, an instant a timestamp with one; a zone is an IANA name. -#}

{#- Minutes since midnight. -#}
{% macro hhmm_minutes(hhmm) -%}
    ({{ hhmm }} - 40 * cast(floor({{ hhmm }} / 100.0) as integer))
{%- endmacro %}

{% macro local_time(instant, zone) -%}
    {{ return(adapter.dispatch('local_time')(instant, zone)) }}
{%- endmacro %}

{% macro duckdb__local_time(instant, zone) -%}
    timezone({{ zone }}, {{ instant }})
{%- endmacro %}

{#- The same function in DuckDB, told apart by the type it is given; other engines need two. -#}
{% macro instant_of(local, zone) -%}
    {{ return(adapter.dispatch('instant_of')(local, zone)) }}
{%- endmacro %}

{% macro duckdb__instant_of(local, zone) -%}
    timezone({{ zone }}, {{ local }})
{%- endmacro %}

{#- The instant at which the clock of `zone` reads `hhmm` on `day`. -#}
{% macro instant_on(day, hhmm, zone) -%}
    {%- set local = dbt.dateadd('minute', hhmm_minutes(hhmm), 'cast(' ~ day ~ ' as timestamp)') -%}
    {{ return(instant_of(local, zone)) }}
{%- endmacro %}

{#- The first instant after `instant` at which the clock of `zone` reads `hhmm`. -#}
{% macro instant_after(instant, hhmm, zone) -%}
    {%- set minutes_to_next_day = '1440 - ' ~ hhmm_minutes(hhmm) -%}
    {%- set day = 'cast(' ~ dbt.dateadd('minute', minutes_to_next_day, local_time(instant, zone)) ~ ' as date)' -%}
    {{ return(instant_on(day, hhmm, zone)) }}
{%- endmacro %}
