"""What `make demo` shows while it works: a line for each table, counting its partitions."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg
    from dagster import EventLogEntry


def say(text: str) -> None:
    """Print a line at once, to the terminal even while the tools' output goes to a log."""
    sys.__stdout__.write(text + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


class Progress:
    """Counts materializations as they are logged.

    On a terminal the line of a table is rewritten; elsewhere it is printed when the table is done.
    """

    def __init__(self, assets: Sequence["dg.AssetKey"], partitions: int) -> None:
        self.partitions = partitions
        self.counts = dict.fromkeys(assets, 0)
        self.shown: dg.AssetKey | None = None
        self.live = sys.__stdout__ is not None and sys.__stdout__.isatty()

    def on_event(self, entry: "EventLogEntry") -> None:
        """Called by Dagster for each event of the run."""
        event = entry.dagster_event
        if event is None or not event.is_step_materialization or event.asset_key not in self.counts:
            return
        key = event.asset_key
        self.counts[key] += 1
        done = self.counts[key] >= self.partitions
        if self.live:
            if self.shown not in (None, key):
                say("")
            self.shown = key
            self._rewrite(self._line(key))
        elif done:
            say(self._line(key))

    def end(self) -> None:
        """Leave the last line standing."""
        if self.live and self.shown is not None:
            say("")

    def _line(self, key: "dg.AssetKey") -> str:
        counted = f"{self.counts[key]} of {self.partitions} partitions" if self.partitions > 1 else "built"
        return f"  {'.'.join(key.path):<36}{counted}"

    def _rewrite(self, line: str) -> None:
        sys.__stdout__.write(f"\r{line}")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]
