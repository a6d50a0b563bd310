"""What `make dev` looks at before Dagster, which would run on without its UI or show a stack trace."""

import socket
import sys
from collections.abc import Sequence
from importlib import import_module

from lakehouse.orchestration.dead_runs import fail_dead_runs


def main(arguments: Sequence[str]) -> int:
    """Say in one sentence what is in the way, and free the queue of what the last run of Dagster left.

    Args:
        arguments: the UI's port, and the modules that read the settings and may refuse them.

    Returns:
        0 if Dagster can start.
    """
    port, *modules = arguments
    if refusal := _settings_refusal(modules) or _port_refusal(port):
        sys.stderr.write(f"{refusal}\n")
        return 1
    import dagster as dg

    with dg.DagsterInstance.get() as instance:
        for run_id in fail_dead_runs(instance):
            sys.stdout.write(f"Run {run_id[:8]} was killed and is marked as failed.\n")
    return 0


def _settings_refusal(modules: Sequence[str]) -> str | None:
    """What is wrong with the settings, None if nothing is."""
    from pydantic import ValidationError

    from lakehouse.settings import Settings
    from lakehouse.terminal import message

    try:
        Settings()
    except ValidationError as error:
        return message(error)
    try:
        for module in modules:
            import_module(module)
    except ValueError as error:
        return str(error)
    return None


def _port_refusal(port: str) -> str | None:
    """Why the UI cannot be on a port, None if it can."""
    if not port.isdigit():
        return f"{port!r} is no port: give a number, such as `make dev PORT=3001`."
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one just left is free
        try:
            probe.bind(("127.0.0.1", int(port)))
        except (OSError, OverflowError):
            return (
                f"Port {port} cannot be had: the UI runs already, or something else is there. Stop that, or "
                "take another: `make dev PORT=3001`."
            )
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
