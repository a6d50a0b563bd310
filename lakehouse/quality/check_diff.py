"""What two versions of a contract check differently: a promise to readers that weakens breaks them.

What a check lets pass is compared where it can be: limits, lists of values, thresholds. Of an expression or a
query nobody can tell, so that a changed one counts as weaker.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_checks import REQUIRED, ContractCheck
from lakehouse.quality.key_diff import key_tightens
from lakehouse.quality.threshold_diff import in_words, tightens
from lakehouse.quality.version_step import Difference, Step


def check_differences(old: Contract, new: Contract) -> Iterator[Difference]:
    """Checks that were added, removed or changed, of the table and of columns that both versions have."""
    before, after = _checks(old, new), _checks(new, old)
    renamed = _renamed(before, after)
    for name, check in before.items():
        now = after.get(renamed.get(name, name))
        if now is None:
            yield _gone(check)
            continue
        if now.name != name:
            yield Difference(Step.MINOR, f"check {name} is called {now.name}")
        yield from _changed(check, now)
    for name, check in after.items():
        if name not in before and name not in renamed.values():
            yield Difference(Step.MINOR, f"check {name} added: {check.description}")


def _checks(contract: Contract, other: Contract) -> dict[str, ContractCheck]:
    """The checks by name; that a column is never null is one of them, where both versions say so."""
    shared = {column.name: column for column in other.columns}
    checks = {
        check.name: check
        for check in contract.checks
        if check.name != REQUIRED and (check.column is None or check.column in shared)
    }
    missing = {check.column for check in checks.values() if check.type == "missing"}
    for column in contract.columns:
        both = not column.nullable and column.name in shared and not shared[column.name].nullable
        if both and column.name not in missing:
            name = f"completeness_{column.name}"
            checks.setdefault(name, ContractCheck(name, "missing", "completeness", column.name))
    return checks


def _renamed(before: Mapping[str, ContractCheck], after: Mapping[str, ContractCheck]) -> dict[str, str]:
    """Checks that are the same under another name."""
    added = {name: check for name, check in after.items() if name not in before}
    renamed: dict[str, str] = {}
    for name, check in before.items():
        same = [to for to, other in added.items() if _same(check, other) and to not in renamed.values()]
        if name not in after and same:
            renamed[name] = same[0]
    return renamed


def _same(one: ContractCheck, other: ContractCheck) -> bool:
    return (one.type, one.column, _asks(one)) == (other.type, other.column, _asks(other))


def _asks(check: ContractCheck) -> dict[str, Any]:
    """What the check says, apart from how it is called; of a list the order says nothing."""
    said = {key: value for key, value in check.body.items() if key not in ("name", "qualifier", "attributes")}
    return {key: sorted(value, key=repr) if isinstance(value, list) else value for key, value in said.items()}


def _gone(check: ContractCheck) -> Difference:
    if check.warns:  # its rows were published all the same
        return Difference(Step.MINOR, f"check {check.name} removed, which only warned")
    return Difference(Step.MAJOR, f"check {check.name} removed: {check.description}")


def _changed(old: ContractCheck, new: ContractCheck) -> Iterator[Difference]:
    """What became of one check."""
    if old.type != new.type:
        yield _judged(old, None, f"is {new.type}, was {old.type}")
        return
    if (was := _fate(old)) != (now := _fate(new)):
        words = ("warns", "sets rows aside", "blocks")
        yield _judged(old, now > was, f"{words[now]}, and {'only ' * (now > was)}{words[was]} before")
    if old.body.get("name") != new.body.get("name"):
        yield Difference(Step.PATCH, f"check {old.name}: it is worded {new.description!r}")
    asked, asks = _asks(old), _asks(new)
    for key in dict.fromkeys((*asked, *asks)):
        if key != "threshold" and asked.get(key) != asks.get(key):
            yield _judged(old, key_tightens(old, new, key), _in_words(old, new, key))
    if in_words(old) != in_words(new):
        yield _judged(old, tightens(old, new), f"the threshold is {in_words(new)}, was {in_words(old)}")
    elif was == now and old.body.get("threshold") != new.body.get("threshold"):
        yield Difference(Step.MINOR, f"check {old.name} warns by another threshold")


def _judged(old: ContractCheck, tighter: bool | None, text: str) -> Difference:
    """A change that tightens a check keeps its promise; a check that only warns has made none."""
    how = {True: "tightened", False: "loosened", None: "changed, and may let pass more"}[tighter]
    step = Step.MINOR if tighter or old.warns else Step.MAJOR
    return Difference(step, f"check {old.name} {how}: {text}")


def _fate(check: ContractCheck) -> int:
    """What a failure leads to, the strictest last."""
    return 0 if check.warns else 1 if check.quarantines else 2


def _in_words(old: ContractCheck, new: ContractCheck, key: str) -> str:
    was, now = (check.body.get(key, "not said") for check in (old, new))
    return f"{key} is {now}, was {was}"
