"""What a drafted contract leaves to a person."""

from collections.abc import Iterator

from lakehouse.quality.contract import Contract

TODO = "TODO"


def unfinished(contract: Contract) -> Iterator[str]:
    """What nobody has written yet."""
    left = ["the owner"] if contract.owner == TODO else []
    left += ["the table's description"] if contract.description == TODO else []
    if columns := [column.name for column in contract.columns if column.description == TODO]:
        left.append(f"the description of {', '.join(columns)}")
    if left:
        yield f"still {TODO}: {', '.join(left)}"
