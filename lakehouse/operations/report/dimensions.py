"""Which of the five dimensions of quality a check is of, by its name.

The names of contracts' checks begin with it. Those of dbt's tests begin with the kind of the test.
"""

from typing import Literal, get_args

Dimension = Literal["freshness", "completeness", "uniqueness", "validity", "distribution"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

# How dbt's own tests are called, and those of packages in its manner; what else there is says what is valid.
_BEGINNINGS: tuple[tuple[str, Dimension], ...] = (
    ("not_null", "completeness"),
    ("reconciliation", "completeness"),
    ("unique", "uniqueness"),
    ("drift", "validity"),  # of the schema: the columns are the contract's
)
_ENDINGS: tuple[tuple[str, Dimension], ...] = (
    ("_key_is_unique", "uniqueness"),
    ("_is_unique", "uniqueness"),
    ("_reconciles", "completeness"),
    ("_counts_every_row", "completeness"),
)


def dimension_of(check: str) -> Dimension:
    """The dimension of a check; of one that does not tell it is validity."""
    first = check.partition("_")[0]
    for dimension in DIMENSIONS:
        if first == dimension:
            return dimension
    for beginning, dimension in _BEGINNINGS:
        if check.startswith(beginning):
            return dimension
    for ending, dimension in _ENDINGS:
        if check.endswith(ending):
            return dimension
    return "validity"
