"""By which columns the rows of two snapshots are paired: the key that the table's contract declares."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakehouse.diff.errors import DiffError

if TYPE_CHECKING:
    from lakehouse.diff.columns import Pair
    from lakehouse.quality.contract import Contract
    from lakehouse.quality.contract_checks import ContractCheck


def declared_key(contract: "Contract | None") -> tuple[str, ...]:
    """The columns of the contract's first check that no two rows share them; empty: there is none."""
    for check in contract.checks if contract else ():
        if _is_key(check):
            columns = [check.column] if check.column else check.body["columns"]
            return tuple(columns)
    return ()


def _is_key(check: "ContractCheck") -> bool:
    """Of all rows, and without an exception."""
    threshold = check.body.get("threshold") or {"must_be": 0}
    return (
        check.type == "duplicate"
        and not check.warns
        and "filter" not in check.body
        and threshold.get("must_be") == 0
    )


def places(key: Sequence[str], pairs: "Sequence[Pair]", name: str) -> list[int]:
    """Where the key's columns are among the pairs.

    Raises:
        DiffError: one of the two snapshots has no such column, or it is not compared.
    """
    found = {pair.new.name: place for place, pair in enumerate(pairs)}
    for column in key:
        if column not in found:
            raise DiffError(
                f"{name} cannot be compared by {column}, which is not among the compared columns of both "
                "snapshots: name others with --key, or none with --no-key."
            )
    return [found[column] for column in key]
