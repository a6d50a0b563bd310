{#- Builds a model as one commit to its Iceberg table. `incremental_strategy` says which rows the
    commit replaces: `replace` all, `overwrite_partition` those of the window being built, `upsert` those
    with the same `unique_key` (the greatest `cursor` wins, `deleted_flag` marks deletions), `insert_only` none. -#}
{% materialization iceberg, adapter='duckdb' %}
  {%- set target_relation = this.incorporate(type='view') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% do adapter.store_relation(
      'plugin',
      target_relation,
      [],
      '',
      'parquet',
      {
          'sql': compiled_code,
          'strategy': 'replace' if flags.FULL_REFRESH else config.get('incremental_strategy', 'replace'),
          'unique_key': config.get('unique_key'),
          'cursor': config.get('cursor'),
          'deleted_flag': config.get('deleted_flag'),
          'partition_by': config.get('partition_by'),
          'partition_grain': config.get('partition_grain', 'day'),
          'sort_by': config.get('sort_by', []),
          'unique_id': model.unique_id,
      }
  ) %}
  {%- do store_result('main', response='COMMIT', agate_table=none) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
