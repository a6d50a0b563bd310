"""What dlt remembers of a source, such as how far it was read, held to the rows that are in the table.

dlt stores it after a load. A process that dies between our commit and that would load the same
rows again, under another load id; so it is stored before, and counts once the table holds its load.
A load that was rolled back does not count any more: its rows come again.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lakehouse.storage.errors import StorageError
from lakehouse.storage.loads import held_loads

if TYPE_CHECKING:
    from pyiceberg.table import Table


def loads_in(table: "Table | None") -> set[str]:
    """The loads whose rows are in a table."""
    return held_loads(table.metadata) if table else set()


def says_how_far(state: Mapping[str, Any]) -> bool:
    """Whether a source keeps anything in dlt's state."""
    from dlt.common.versioned_state import decompress_state

    return any(decompress_state(state["state"]).get("sources", {}).values())


def refuse_if_overtaken(
    source: str, read_from: str | None, newest: Callable[[set[str]], str | None]
) -> Callable[["Table | None"], None]:
    """Refuse rows that were read from where another load has read on meanwhile: they would come twice.

    Args:
        source: names it in the message.
        read_from: the load whose state this one was read from.
        newest: of loads the newest that left a state.
    """

    def precondition(table: "Table | None") -> None:
        if newest(loads_in(table)) != read_from:
            raise StorageError(
                f"{source}: another load brought rows while this one read the same ones. Nothing was added; "
                "run it again for what is new since."
            )

    return precondition
