"""What a check of a contract came to on one partition, or one table."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

PASSED, WARNED, FAILED, NOT_EVALUATED = "passed", "warned", "failed", "not_evaluated"


@dataclass(frozen=True)
class CheckResult:
    """One check on the rows that were about to be published.

    Args:
        check: its name.
        outcome: passed, warned, failed or not_evaluated.
        blocks: whether anything but passed or warned keeps the rows from being published.
        measured: the number that was compared with the threshold.
        threshold: in words.
        metrics: other numbers, by name.
        note: what a person should know beside the numbers.
        failing_rows: SQL that gives them.
        sample: the first of them, each value as text.
        differences: of columns between source, contract and table, a mapping for each.
    """

    check: str
    outcome: str
    blocks: bool
    measured: float | None = None
    threshold: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    note: str = ""
    failing_rows: str = ""
    sample: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, str]] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether the rows hold what the check asks."""
        return self.outcome == PASSED

    @property
    def refuses(self) -> bool:
        """Whether the rows must not be published."""
        return self.blocks and self.outcome in (FAILED, NOT_EVALUATED)

    @property
    def sentence(self) -> str:
        """The check in a message."""
        if self.note:
            return f"{self.check}: {self.note}"
        if self.outcome == NOT_EVALUATED:
            return f"{self.check} could not be evaluated"
        if self.measured is None:
            return f"{self.check} failed"
        return f"{self.check} is {self.measured:g}, but {self.threshold}"


Results = dict[date | None, list[CheckResult]]
