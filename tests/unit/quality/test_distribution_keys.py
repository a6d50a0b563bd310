"""What a contract's `distribution` may hold, and what two versions of it differ in."""

from pathlib import Path
from typing import Any

import pytest

from lakehouse.quality.contract import Contract, contract_from
from lakehouse.quality.contract_diff import differences
from lakehouse.quality.errors import ContractError
from lakehouse.quality.version_step import Step
from lakehouse.settings import Settings

COLUMNS = [
    {"name": "price", "data_type": "decimal(8, 2)"},
    {"name": "shop", "data_type": "varchar"},
    {"name": "day", "data_type": "date"},
    {"name": "email", "data_type": "varchar", "pii": "personal"},
]


def contract(distribution: Any) -> Contract:
    said = {"dataset": "lakehouse/silver/t", "version": "1.0.0", "owner": "team:tests", "tier": 3}
    said |= {"columns": COLUMNS} | ({} if distribution is None else {"distribution": distribution})
    return contract_from(said, "silver.t", Path("t.yml"))


def of(column: str, **measures: Any) -> dict[str, Any]:
    return {"columns": {column: measures}}


@pytest.mark.parametrize(
    ("distribution", "fault"),
    [
        ({"baselin": 3, "row_count": {"warn": 3}}, "has the unknown key 'baselin'"),
        ({"season": "month", "row_count": {"warn": 3}}, "season is 'month'"),
        ({"baseline": 1, "row_count": {"warn": 3}}, "baseline is 1, not a number of partitions"),
        ({"enough": 9, "season": "weekday", "row_count": {"warn": 3}}, "more than the baseline's 8"),
        ({"baseline": 5}, "asks for nothing"),
        ({"row_count": 3}, "not a mapping with warn, fail or both"),
        ({"row_count": {"warn": True}}, "not a number over 0"),
        ({"row_count": {"warns": 3}}, "unknown key 'warns'"),
        (of("price", ks={"warn": 2}), "ks is between 0 and 1"),
        (of("price", psi={"warn": 0.3, "fail": 0.2}), "warn is 0.3, which is not met before fail, 0.2"),
        (of("shop", chi_square={"warn": 0.001, "fail": 0.01}), "not met before fail"),
        (of("price", chi_square={"warn": 0.01}), "chi_square is not for a number"),
        (of("shop", ks={"warn": 0.1}), "ks is not for a category"),
        (of("shop", kind="number", psi={"warn": 0.1}), "kind is number, but varchar is a category"),
        (of("price", quantiles={"p51": {"warn": [0, 1]}}), "unknown key 'p51'"),
        (of("price", quantiles={"p50": {"warn": [2, 1]}}), "the low end is over the high one"),
        (of("price", quantiles={"p50": {"warn": [None, None]}}), "neither a low nor a high end"),
        (of("price", quantiles={"p50": {"fail": {"factor": 1}}}), "not a factor over 1"),
        (of("day", psi={"warn": 0.1}), "numbers, texts and booleans can be profiled"),
        (of("email", psi={"warn": 0.1}), "is personal: its values would be kept in profiles"),
        (of("prize", psi={"warn": 0.1}), "is no column of the contract"),
        (of("price"), "asks for nothing"),
    ],
)
def test_what_is_wrong_is_refused(distribution: Any, fault: str) -> None:
    with pytest.raises(ContractError, match=r"t\.yml") as refusal:
        contract(distribution)

    assert fault in str(refusal.value)


WARNS, FAILS = of("price", ks={"warn": 0.2}), of("price", ks={"fail": 0.2})


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        (None, FAILS, Step.MINOR),
        (FAILS, None, Step.MAJOR),
        (WARNS, None, Step.MINOR),
        (FAILS, WARNS, Step.MAJOR),
        (WARNS, FAILS, Step.MINOR),
        (FAILS, of("price", ks={"fail": 0.3}), Step.MAJOR),
        (FAILS, of("price", ks={"fail": 0.1}), Step.MINOR),
        (FAILS, {**FAILS, "baseline": 20}, Step.MAJOR),
        (WARNS, {**WARNS, "season": "weekday"}, Step.MINOR),
        (
            of("price", quantiles={"max": {"fail": [0, 9]}}),
            of("price", quantiles={"max": {"fail": [0, None]}}),
            Step.MAJOR,
        ),
        (
            of("price", quantiles={"max": {"fail": {"factor": 3}}}),
            of("price", quantiles={"max": {"fail": {"factor": 2}}}),
            Step.MINOR,
        ),
    ],
)
def test_a_promise_that_weakens_is_breaking(old: Any, new: Any, step: Step) -> None:
    found = differences(contract(old), contract(new), Settings())

    assert max(difference.step for difference in found) == step


def test_nothing_differs_from_itself() -> None:
    assert differences(contract(FAILS), contract(FAILS), Settings()) == []
