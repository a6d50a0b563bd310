"""Sending to the targets that are set. Their URLs hold tokens: they are shown and logged nowhere.

Each message is posted by a process of its own: it can be ended in time whatever hangs in it, and what
apprise and its libraries log of the URLs stays in it.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from lakehouse.alerts.message import Message

# A comma also stands inside a URL, between the addresses of one mail.
BETWEEN = re.compile(r"\s+|,+\s*(?=\w[\w+.-]*://)")
SCHEME = re.compile(r"(\w[\w+.-]*)://.")


@dataclass(frozen=True)
class Target:
    """Where alerts go.

    Args:
        number: its place in the setting, from 1.
    """

    number: int
    url: SecretStr

    @property
    def name(self) -> str:
        """What may be shown: of some services even the host is a token."""
        scheme = SCHEME.match(self.url.get_secret_value())
        return f"target {self.number} ({scheme[1] if scheme else 'no scheme'}://***)"


@dataclass(frozen=True)
class Answer:
    """What became of one message at one target; no refusal: the target took it."""

    target: Target
    refusal: str = ""


def targets_of(urls: SecretStr | None) -> list[Target]:
    """The targets that the setting lists, by white space or commas."""
    listed = BETWEEN.split(urls.get_secret_value()) if urls else []
    return [
        Target(number, SecretStr(url))
        for number, url in enumerate((url.strip(",") for url in listed if url.strip(",")), 1)
    ]


def send(targets: Sequence[Target], message: Message | None, timeout_seconds: float) -> list[Answer]:
    """Send a message to every target at once; None only looks whether apprise knows the targets.

    A target that does not answer in time is given up.
    """
    end = time.monotonic() + timeout_seconds
    posts = [(target, _start(target, message)) for target in targets]
    return [Answer(target, _refusal(post, end, timeout_seconds)) for target, post in posts]


def _start(target: Target, message: Message | None) -> "subprocess.Popen[str] | None":
    try:
        post = subprocess.Popen(
            [sys.executable, "-m", "lakehouse.alerts.post"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:  # too many processes, no memory
        return None
    said = json.dumps({"url": target.url.get_secret_value(), "message": vars(message) if message else None})
    try:
        assert post.stdin is not None
        post.stdin.write(said)
        post.stdin.close()
    except OSError:
        pass  # it ended already, and its silence is the answer
    post.stdin = None
    return post


def _refusal(post: "subprocess.Popen[str] | None", end: float, timeout_seconds: float) -> str:
    if post is None:
        return "no process could be started to send it"
    try:
        said, _ = post.communicate(timeout=max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        post.kill()
        post.communicate()
        return f"it did not answer in {timeout_seconds:g} s"
    try:
        return str(json.loads(said)["refusal"])
    except (ValueError, KeyError):
        return "sending ended without an answer"
