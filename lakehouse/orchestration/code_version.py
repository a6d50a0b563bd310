"""By what Dagster tells that a model has changed: its SQL and that of the project's macros in it."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any


def code_version(manifest: Mapping[str, Any], unique_id: str) -> str:
    """The same for the same SQL; macros of dbt and of packages are no part of it."""
    digest = hashlib.sha256(_code(manifest["nodes"][unique_id]).encode())
    for name in sorted(set(_macros(manifest, manifest["nodes"][unique_id], set()))):
        digest.update(manifest["macros"][name]["macro_sql"].encode())
    return digest.hexdigest()


def _code(node: Mapping[str, Any]) -> str:
    return str(node.get("raw_code") or node["checksum"]["checksum"])


def _macros(manifest: Mapping[str, Any], node: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """The project's own macros that a model or macro calls, and those that they call."""
    for name in node["depends_on"]["macros"]:
        macro = manifest["macros"].get(name)
        if macro is None or name in seen or macro["package_name"] != manifest["metadata"]["project_name"]:
            continue
        seen.add(name)
        yield name
        yield from _macros(manifest, macro, seen)
