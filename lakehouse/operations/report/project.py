"""What the report must know of a project: its tables, their contracts, and which checks they have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.errors import ContractError

if TYPE_CHECKING:
    import dagster as dg

LAYERS = ("bronze", "silver", "gold")
LOWEST_TIER = 3


@dataclass(frozen=True)
class ProjectTable:
    """A table that the project builds.

    Args:
        name: `layer.table`.
        monthly: whether its partitions are months.
        checks: what each is for, by its name.
        contract: None: it has none that can be read.
    """

    name: str
    description: str = ""
    owners: tuple[str, ...] = ()
    partitioned: bool = False
    monthly: bool = False
    checks: Mapping[str, str] = field(default_factory=dict)
    contract: Contract | None = None

    @property
    def layer(self) -> str:
        """Bronze, Silver or Gold."""
        return self.name.partition(".")[0]

    @property
    def tier(self) -> int:
        """By how much depends on it; 3 without a contract."""
        return self.contract.tier if self.contract else LOWEST_TIER

    @property
    def owner(self) -> str:
        """Who answers for it."""
        return self.contract.owner if self.contract else ", ".join(self.owners) or "nobody"


def project_tables(defs: "dg.Definitions", contracts_dir: Path) -> dict[str, ProjectTable]:
    """The tables of a project's definitions, by name; what is in no layer is left out."""
    import dagster as dg

    graph = defs.resolve_asset_graph()
    checks: dict[dg.AssetKey, dict[str, str]] = {}
    for key in graph.asset_check_keys:
        checks.setdefault(key.asset_key, {})[key.name] = graph.get_check_spec(key).description or ""
    tables = {}
    for spec in defs.resolve_all_asset_specs():
        if spec.key.path[0] in LAYERS and len(spec.key.path) > 1:
            name = ".".join(spec.key.path)
            tables[name] = ProjectTable(
                name,
                description=spec.description or "",
                owners=tuple(spec.owners),
                partitioned=spec.partitions_def is not None,
                monthly=isinstance(spec.partitions_def, dg.MonthlyPartitionsDefinition),
                checks=checks.get(spec.key, {}),
                contract=_contract(contracts_dir, name),
            )
    return tables


def _contract(folder: Path, name: str) -> Contract | None:
    try:
        return read_contract(folder.joinpath(*name.split(".")).with_suffix(".yml"), name)
    except ContractError:  # the definitions refuse it: `lakehouse contract verify` says why
        return None
