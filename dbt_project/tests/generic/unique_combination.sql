{# The columns together are a key: a row for each combination that occurs more than once. #}
{% test unique_combination(model, columns) %}

select
    {{ columns | join(',\n    ') }},
    count(*) as occurrences
from {{ model }}
group by
    {{ columns | join(',\n    ') }}
having count(*) > 1

{% endtest %}
