"""What dbt's files say of its models: their columns and descriptions. Read as YAML, without dbt."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

from lakehouse.quality.contract import Contract
from lakehouse.quality.errors import ContractError
from lakehouse.quality.strict_yaml import read_yaml
from lakehouse.quality.todo import TODO

_EPHEMERAL = re.compile(r"materialized\s*=\s*['\"]ephemeral")  # such a model has no table
_SHOWN = 80  # characters of a description


@dataclass(frozen=True)
class Model:
    """A model, with what its documentation says.

    Args:
        file: its SQL.
        columns: descriptions by name.
    """

    file: Path
    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def read_models(dbt_dir: Path) -> dict[str, Model]:
    """The models by table; the folder below `models/` is the layer.

    Raises:
        ContractError: a file of documentation is not YAML.
    """
    folder, models = dbt_dir / "models", {}
    documented = {said["name"]: said for file in _yaml_files(folder) for said in _said(file)}
    for file in sorted(folder.glob("*/**/*.sql")):
        if _EPHEMERAL.search(file.read_text(encoding="utf-8")):
            continue
        said = documented.get(file.stem, {})
        models[f"{file.relative_to(folder).parts[0]}.{file.stem}"] = Model(
            file,
            _text(said),
            {column["name"]: _text(column) for column in said.get("columns") or []},
        )
    return models


def model_faults(contract: Contract, models: Mapping[str, Model]) -> Iterator[str]:
    """Where the documentation of a table's model says something else than its contract."""
    model = models.get(contract.table)
    if model is None:
        yield "dbt has no model of it: write one, or remove the contract"
        return
    declared = {column.name: column.description for column in contract.columns}
    if missing := [name for name in declared if name not in model.columns]:
        yield f"the model's documentation lacks {', '.join(missing)}"
    if extra := [name for name in model.columns if name not in declared]:
        yield f"the model's documentation has {', '.join(extra)}, which the contract lacks"
    for name, description in declared.items():
        if description != TODO and model.columns.get(name, description) != description:
            yield _differs(f"column {name}", model.columns[name], description)
    if contract.description not in ("", TODO) and contract.description != model.description:
        yield _differs("the table", model.description, contract.description)


def _differs(what: str, there: str, here: str) -> str:
    quoted = [repr(shorten(text, _SHOWN, placeholder=" …")) if text else "nothing" for text in (there, here)]
    return f"{what} is described otherwise: the model says {quoted[0]}, the contract {quoted[1]}"


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in (".yml", ".yaml"))


def _said(file: Path) -> list[dict[str, Any]]:
    said = read_yaml(file)
    models = (said.get("models") or []) if isinstance(said, dict) else []
    for named in (*models, *(column for model in models for column in model.get("columns") or [])):
        if not isinstance(named, dict) or not isinstance(named.get("name"), str):
            raise ContractError(f"{file}: a model or a column has no name.")
    return list(models)


def _text(said: Mapping[str, Any]) -> str:
    return " ".join(str(said.get("description") or "").split())
