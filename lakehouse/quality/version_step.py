"""The step that a contract's version has to take for what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Step(IntEnum):
    """A part of the version; a change of a higher one covers those below it."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


@dataclass(frozen=True)
class Difference:
    """One thing that two versions of a contract say differently.

    Args:
        step: that the version has to take for it; MAJOR means that it breaks readers.
        text: what changed, for people.
    """

    step: Step
    text: str

    @property
    def breaking(self) -> bool:
        """Whether something that readers could rely on no longer holds."""
        return self.step is Step.MAJOR

    def line(self) -> str:
        """The difference as one line."""
        return f"{'breaking' if self.breaking else 'compatible':<11} {self.text}"


def least_version(old: str, step: Step) -> str:
    """The lowest version that takes this step."""
    major, minor, patch = _parts(old)
    match step:
        case Step.MAJOR:
            return f"{major + 1}.0.0"
        case Step.MINOR:
            return f"{major}.{minor + 1}.0"
        case Step.PATCH:
            return f"{major}.{minor}.{patch + 1}"
    return old


def version_verdict(old: str, new: str, differences: Sequence[Difference]) -> tuple[bool, str]:
    """Whether the new version is high enough for the differences, and that in a sentence."""
    step = max((difference.step for difference in differences), default=Step.NONE)
    least = least_version(old, step)
    enough = _parts(new) >= _parts(least)
    if step is Step.NONE:
        said = "Nothing differs" + ("." if new == old else " but the version.")
        return enough, said if enough else f"{said} It goes back from {old} to {new}: write {old} or higher."
    which = "breaking" if step is Step.MAJOR else "compatible" if step is Step.MINOR else "of words alone"
    needed = f"The change is {which}, which needs a new {step.name.lower()} version: {least} or higher"
    return enough, f"{needed}. It is {new}." if enough else f"{needed}, but it is {new}. Write {least}."


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch
