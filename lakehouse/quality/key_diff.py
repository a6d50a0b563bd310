"""Whether what a check says under one key lets pass only what it let pass before."""

from collections.abc import Callable, Mapping
from typing import Any

from lakehouse.quality.contract_checks import OF_ROWS, ContractCheck
from lakehouse.quality.threshold_diff import allowed, metric_of

Verdict = bool | None  # tighter, looser, or nobody can tell


def key_tightens(old: ContractCheck, new: ContractCheck, key: str) -> bool | None:
    """Whether fewer rows pass by what is said under a key that differs; None: nobody can tell."""
    if not (_counts_bad_rows(old) and _counts_bad_rows(new)) or key not in _JUDGES:
        return None
    verdict = _JUDGES[key](old.body.get(key), new.body.get(key))
    # A missing value is bad to the check `missing`, and passed over by the others.
    turned = key in _MISSING and old.type != "missing"
    return not verdict if turned and verdict is not None else verdict


def _counts_bad_rows(check: ContractCheck) -> bool:
    """Whether the check allows no bad row, or so and so many; of a percentage the whole changes too."""
    limits = allowed(check)
    if check.type not in (*OF_ROWS, "duplicate") or limits is None or limits.low > 0:
        return False
    return metric_of(check) == "count" or limits.high == 0


def _said_at_all(was: Any, now: Any) -> Verdict:
    return None if was is not None and now is not None else was is None


def _fewer_rows_looked_at(was: Any, now: Any) -> Verdict:
    verdict = _said_at_all(was, now)
    return None if verdict is None else not verdict


def _higher(was: Any, now: Any) -> Verdict:
    if not (isinstance(was, int | float) and isinstance(now, int | float)):
        return _said_at_all(was, now)
    return now > was


def _lower(was: Any, now: Any) -> Verdict:
    if not (isinstance(was, int | float) and isinstance(now, int | float)):
        return _said_at_all(was, now)
    return now < was


def _longer(was: Any, now: Any) -> Verdict:
    if was is None or now is None:
        return _said_at_all(was, now)
    return True if _among(was, now) else False if _among(now, was) else None


def _shorter(was: Any, now: Any) -> Verdict:
    return _said_at_all(was, now) if was is None or now is None else _among(now, was)


def _among(these: list[Any], those: list[Any]) -> bool:
    return all(value in those for value in these)


_MISSING = ("missing_values", "missing_format")
_JUDGES: Mapping[str, Callable[[Any, Any], Verdict]] = {
    "filter": _fewer_rows_looked_at,
    "missing_values": _longer,
    "missing_format": _said_at_all,
    "invalid_values": _longer,
    "valid_values": _shorter,
    "valid_min": _higher,
    "valid_max": _lower,
    "valid_min_length": _higher,
    "valid_max_length": _lower,
    **dict.fromkeys(("valid_length", "valid_format", "invalid_format", "valid_reference_data"), _said_at_all),
}
