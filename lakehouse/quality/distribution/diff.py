"""What two versions of a contract compare otherwise: a promise to readers that weakens breaks them.

Only what blocks is promised. What a partition is compared with decides what is let through, and nobody
can tell whether other partitions let more pass.
"""

from collections.abc import Iterator

from lakehouse.quality.distribution.declared import Distribution, DistributionCheck, Limit
from lakehouse.quality.version_step import Difference, Step


def distribution_differences(old: Distribution | None, new: Distribution | None) -> Iterator[Difference]:
    """Checks that were added, removed or changed, and what they compare with."""
    before = {check.name: check for check in old.checks} if old else {}
    after = {check.name: check for check in new.checks} if new else {}
    for name, check in before.items():
        if name in after:
            yield from _changed(check, after[name])
        elif check.blocks:
            yield Difference(Step.MAJOR, f"check {name} removed: {check.description}")
        else:
            yield Difference(Step.MINOR, f"check {name} removed, which only warned")
    for name, check in after.items():
        if name not in before:
            yield Difference(Step.MINOR, f"check {name} added: {check.description}")
    if old is not None and new is not None:
        yield from _compared_with(old, new)


def _compared_with(old: Distribution, new: Distribution) -> Iterator[Difference]:
    blocks = any(check.blocks and check.needs_baseline for check in old.checks)
    step = Step.MAJOR if blocks else Step.MINOR
    for key in ("baseline", "enough", "season"):
        was, now = getattr(old, key), getattr(new, key)
        if was != now:
            text = f"distribution {key} is {now or 'none'}, was {was or 'none'}: partitions are compared with"
            yield Difference(step, f"{text} others")
    for column in sorted(old.columns.keys() & new.columns.keys()):
        if old.columns[column] != new.columns[column]:
            text = f"column {column} is compared as a {new.columns[column]}, was as a {old.columns[column]}"
            yield Difference(step, text)


def _changed(old: DistributionCheck, new: DistributionCheck) -> Iterator[Difference]:
    if old.fail != new.fail:
        if old.fail is None:
            yield Difference(Step.MINOR, f"check {new.name} blocks now: {new.description}")
        elif new.fail is None:
            yield Difference(Step.MAJOR, f"check {new.name} only warns now: {new.description}")
        else:
            tighter = _within(new.fail, old.fail)
            step, how = (Step.MINOR, "tightened") if tighter else (Step.MAJOR, "loosened")
            yield Difference(step, f"check {new.name} {how}: it {new.fail}, was: {old.fail}")
    if old.warn != new.warn:
        yield Difference(Step.MINOR, f"check {new.name} warns otherwise: {new.warn or 'never'}")


def _within(inner: Limit, outer: Limit) -> bool:
    """Whether all that one limit lets pass the other does too; of a factor and ends nobody can tell."""
    if inner.factor is not None or outer.factor is not None:
        return inner.factor is not None and outer.factor is not None and inner.factor <= outer.factor
    low = outer.low is None or (inner.low is not None and inner.low >= outer.low)
    return low and (outer.high is None or (inner.high is not None and inner.high <= outer.high))
