{#- The partitions a run works on: from `partition_start` up to, not including, `partition_end`; both open when unset.
    Session variables, not dbt vars: another value of --vars makes dbt parse the whole project again. -#}
{% macro in_partition_window(column) -%}
    {{ return(adapter.dispatch('in_partition_window')(column)) }}
{%- endmacro %}

{#- The plugin sets them, as DATE, on each cursor. DuckDB folds them before it plans, so that the scan is pruned. -#}
{% macro duckdb__in_partition_window(column) -%}
    (getvariable('partition_start') is null or {{ column }} >= getvariable('partition_start'))
    and (getvariable('partition_end') is null or {{ column }} < getvariable('partition_end'))
{%- endmacro %}
