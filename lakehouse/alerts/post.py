"""The process that posts one message to one target: `{"url", "message"}` in, `{"refusal"}` out, as JSON."""

import json
import logging
import re
import sys
from collections.abc import Mapping

TYPES = {"critical": "failure", "error": "failure", "warning": "warning"}
SHORTEST_SECRET = 3  # characters; a shorter piece of a URL is in any sentence


class _Kept(logging.Handler):
    """Keeps what apprise says went wrong."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the sentence."""
        self.said.append(record.getMessage())


def post(url: str, message: Mapping[str, str] | None) -> str:
    """Post a message, or (None) only look at the URL; returns why not, or nothing."""
    import apprise

    kept = _Kept()
    logger = logging.getLogger("apprise")
    logger.handlers, logger.propagate = [kept], False
    if "://" not in url:
        return "it is no URL: it begins with a scheme such as slack://, mailtos:// or json://"
    scheme = url.partition("://")[0].lower()
    if scheme not in _schemes():
        return f"the scheme {scheme}:// is unknown; https://appriseit.com/services lists what there is"
    target = apprise.Apprise.instantiate(url)
    if target is None:
        return f"{scheme}:// asks for another URL; https://appriseit.com/services shows how it is written"
    if message is None:
        return ""
    sender = apprise.Apprise()
    sender.add(target)
    kind = apprise.NotifyType(TYPES[message["severity"]])
    if sender.notify(title=message["title"], body=message["body"], notify_type=kind, body_format="text"):
        return ""
    return without_secrets(url, " ".join(kept.said)) or "it did not take the message"


def without_secrets(url: str, said: str) -> str:
    """A sentence without any piece of the URL but its scheme."""
    pieces = {piece for piece in re.split(r"[/?&=:@,]+", url.partition("://")[2]) if piece}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece) >= SHORTEST_SECRET:
            said = said.replace(piece, "***")
    return " ".join(said.split())


def _schemes() -> set[str]:
    from apprise.manager_plugins import NotificationManager

    return set(NotificationManager().schemas())  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"refusal": post(**json.load(sys.stdin))}))
