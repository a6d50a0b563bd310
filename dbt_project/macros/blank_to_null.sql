{#- Trimmed text; null where nothing is left, or where the source wrote its own mark for null, `\N`. -#}
{% macro blank_to_null(column) -%}
    {{ return(adapter.dispatch('blank_to_null')(column)) }}
{%- endmacro %}

{#- No default: engines that read the backslash as an escape would take a plain N for null. -#}
{% macro duckdb__blank_to_null(column) -%}
    nullif(nullif(trim({{ column }}), ''), '\N')
{%- endmacro %}
