"""Two versions of a table's contract laid side by side: what differs, and whether it breaks readers.

A contract is a promise to those who read the table. What makes it weaker is breaking, what makes it stronger
or says more is not. `docs/contracts.md` has the rules with their reasons.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse.quality.check_diff import check_differences
from lakehouse.quality.column_diff import column_differences
from lakehouse.quality.contract import Contract, contract_from
from lakehouse.quality.distribution.diff import distribution_differences
from lakehouse.quality.errors import ContractError
from lakehouse.quality.strict_yaml import read_yaml
from lakehouse.quality.version_step import Difference, Step

if TYPE_CHECKING:
    from lakehouse.settings import Settings

_DATASET = "lakehouse/"
_REFUSING_MODES = ("evolve", "freeze")


def read_version(file: Path) -> Contract:
    """A version of a contract, wherever its file is; the file says which table it is of.

    It is read once, so that it may be a pipe.

    Raises:
        ContractError: there is no such file, or it holds no contract.
    """
    said = read_yaml(file)
    dataset = said.get("dataset") if isinstance(said, dict) else None
    if not isinstance(dataset, str) or not dataset.startswith(_DATASET):
        raise ContractError(
            f"{file} holds no contract: it has no `dataset:` such as {_DATASET}silver/flights."
        )
    return contract_from(said, dataset.removeprefix(_DATASET).replace("/", "."), file)


def differences(old: Contract, new: Contract, settings: "Settings") -> list[Difference]:
    """What the new version says otherwise than the old one, the breaking first.

    Args:
        settings: whose gates a contract has that says nothing of them.

    Raises:
        ContractError: they are of two tables, or have a column of an unknown type.
    """
    if old.table != new.table:
        raise ContractError(
            f"The old contract is of {old.table}, the new one of {new.table}: compare two versions of one."
        )
    found = [
        *_of_the_table(old, new),
        *column_differences(old, new),
        *check_differences(old, new),
        *_gate_differences(_gates(old, settings), _gates(new, settings)),
        *_left_to_settings(old, new),
        *_freshness_differences(old.freshness, new.freshness),
        *distribution_differences(old.distribution, new.distribution),
    ]
    return sorted(found, key=lambda difference: -difference.step)


def _of_the_table(old: Contract, new: Contract) -> Iterator[Difference]:
    """The keys at the top."""
    if old.timezone != new.timezone:
        text = f"timezone is {new.timezone}, was {old.timezone}: a partition begins and ends at other moments"
        yield Difference(Step.MAJOR, text)
    if old.schema_mode != new.schema_mode:
        refuses = new.schema_mode in _REFUSING_MODES
        why = "" if refuses else ": what does not fit is set aside otherwise than before"
        text = f"schema_mode is {new.schema_mode}, was {old.schema_mode}{why}"
        yield Difference(Step.MINOR if refuses else Step.MAJOR, text)
    if old.tier != new.tier:
        yield Difference(Step.MINOR, f"tier is {new.tier}, was {old.tier}")
    if old.owner != new.owner:
        yield Difference(Step.PATCH, f"owner is {new.owner}, was {old.owner}")
    if old.description != new.description:
        yield Difference(Step.PATCH, "the table's description changed")


def _gates(contract: Contract, settings: "Settings") -> dict[str, Any]:
    """The gates as they are, the project's where the contract is silent."""
    return {
        "good_rows_percent": settings.good_rows_percent,
        "row_count_change_percent": settings.row_count_change_percent,
        "may_be_empty": False,
        **contract.gates,
    }


def _gate_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for key, was in old.items():
        if (now := new[key]) == was:
            continue
        match key:
            case "good_rows_percent":
                tighter = now > was
            case "row_count_change_percent":  # null: any number of rows is right
                tighter = was is None or (now is not None and now < was)
            case _:
                tighter = not now
        step, how = (Step.MINOR, "tightened") if tighter else (Step.MAJOR, "loosened")
        yield Difference(step, f"gate {key} {how}: it is {json.dumps(now)}, was {json.dumps(was)}")


def _left_to_settings(old: Contract, new: Contract) -> Iterator[Difference]:
    """Gates that one version alone speaks of, whatever the settings are today."""
    for key in old.gates.keys() - new.gates.keys():
        yield Difference(Step.MINOR, f"gate {key} is left to the project's settings")
    for key in new.gates.keys() - old.gates.keys():
        yield Difference(Step.MINOR, f"gate {key} is no longer left to the project's settings")


def _freshness_differences(old: Mapping[str, float], new: Mapping[str, float]) -> Iterator[Difference]:
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        sooner = now is not None and (was is None or now < was)
        step, how = (Step.MINOR, "tightened") if sooner else (Step.MAJOR, "loosened")
        yield Difference(step, f"freshness {key} {how}: it is {json.dumps(now)}, was {json.dumps(was)}")
