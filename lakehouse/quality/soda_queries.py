"""Soda's queries, one for most checks together, and what becomes of one that fails."""

from collections.abc import Sequence
from typing import Any


def measure(queries: Sequence[Any]) -> list[Any]:
    """What Soda's queries measure; what cannot be evaluated is in Soda's log and hides nothing else.

    One query computes most checks' numbers. Where it fails, each is computed by itself.
    """
    measurements: list[Any] = []
    for query in queries:
        together = list(getattr(query, "aggregation_metrics", ()))
        if len(together) == 1 or (found := _measured(query, log=not together)) is None:
            found = [each for metric in together for each in _measured_alone(query, metric)]
        measurements += found
    return measurements


def _measured_alone(query: Any, metric: Any) -> list[Any]:
    together, query.aggregation_metrics = query.aggregation_metrics, [metric]
    try:
        return _measured(query, log=True) or []
    finally:
        query.aggregation_metrics = together


def _measured(query: Any, *, log: bool) -> list[Any] | None:
    """What a query measures, None if it cannot be evaluated."""
    from soda_core.common.exceptions import SodaCoreException
    from soda_core.common.logging_constants import soda_logger

    try:
        return list(query.execute())
    except SodaCoreException as error:
        if log:
            soda_logger.error(str(error))
        return None
