"""What a step came to, as far as an alert tells it: counts and reasons, never rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What is wrong."""

    NOT_PUBLISHED = "not published"
    CHECK = "check"
    QUARANTINE = "quarantine"
    STEP = "step"
    WARNING = "warning"


class Key(NamedTuple):
    """What is the same when it happens again."""

    table: str
    subject: str
    partition: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with one partition, or with a table as a whole (partition "").

    Args:
        subject: the check's name; of what is no check, the kind.
        meaning: what the check asks, in the contract's words.
        said: the reason, or what was measured and what it must be.
        rows: in quarantine.
    """

    kind: Kind
    table: str
    partition: str
    subject: str
    meaning: str = ""
    said: str = ""
    rows: int = 0

    @property
    def key(self) -> Key:
        """What it is known by when it happens again."""
        return Key(self.table, self.subject, self.partition)


@dataclass
class TableOutcome:
    """What a step came to of one table.

    Args:
        tier: 1, 2 or 3, by how much depends on the table; None: nobody said.
        adds: whether what a load sets aside comes to what is in quarantine already.
        refused: whether rows that were not published are kept to look at.
        published: its partitions that were ("" is a table that has none).
        mended: what is no longer wrong, if it was.
    """

    table: str
    owner: str
    tier: int | None = None
    adds: bool = False
    refused: bool = False
    published: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    mended: set[Key] = field(default_factory=set)

    def of(self, *kinds: Kind) -> list[Finding]:
        """The findings of these kinds, by partition."""
        return sorted((one for one in self.findings if one.kind in kinds), key=lambda one: one.partition)

    @property
    def severity(self) -> str:
        """How urgent, in the words of incident tools: by tier where rows were kept back or are wrong."""
        if not self.of(Kind.NOT_PUBLISHED, Kind.CHECK, Kind.STEP):
            return "warning"
        return {1: "critical", 3: "warning"}.get(self.tier or 2, "error")


@dataclass
class StepOutcome:
    """What one step of a run came to."""

    run_id: str
    tables: list[TableOutcome] = field(default_factory=list)

    def by_owner(self, *, warnings: bool) -> Iterator[list[TableOutcome]]:
        """Each owner's tables that have something to tell.

        Args:
            warnings: whether a warning alone is.
        """
        owners: dict[str, list[TableOutcome]] = {}
        for table in self.tables:
            if any(warnings or one.kind != Kind.WARNING for one in table.findings):
                owners.setdefault(table.owner, []).append(table)
        yield from owners.values()
