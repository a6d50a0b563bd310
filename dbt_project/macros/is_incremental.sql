{#- Whether a model adds to what it built before. dbt's own asks for the materialization `incremental`; ours
    builds on a table that exists, unless all of it is to be built anew. -#}
{% macro is_incremental() %}
  {%- if not execute -%}
    {{ return(False) }}
  {%- endif -%}
  {{ return(
      config.get('incremental_strategy') in ('upsert', 'insert_only')
      and not flags.FULL_REFRESH
      and load_relation(this) is not none
  ) }}
{% endmacro %}
