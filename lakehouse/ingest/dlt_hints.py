"""dlt's own hints about how a table is written: they say what the source says, or are refused."""

from collections.abc import Iterable, Mapping
from typing import Any

from lakehouse.ingest.errors import SourceError
from lakehouse.ingest.source import BronzeSource


def refuse_contradictions(source: BronzeSource, resource: str, hints: Mapping[str, Any]) -> None:
    """Refuse hints that ask for something else than the source does: ignored silently, rows would be wrong.

    Raises:
        SourceError: saying how to declare it instead.
    """
    for wanted in _contradictions(source, hints):
        raise SourceError(f"{source.name}: the dlt resource {resource} {wanted}")


def _contradictions(source: BronzeSource, hints: Mapping[str, Any]) -> Iterable[str]:
    disposition = hints.get("write_disposition")
    if isinstance(disposition, Mapping):
        disposition = disposition.get("disposition")
    # `append` is what dlt says where nobody said anything.
    asked = disposition if disposition in ("merge", "replace") else source.write_disposition
    if source.partition_by is None and asked != source.write_disposition:
        yield (
            f"is to {asked}, but its source is declared with write_disposition={source.write_disposition!r}. "
            "Declare the one that is meant in BronzeSource, and leave it out of the resource."
        )
    if source.key is not None:
        for hint in ("primary_key", "merge_key"):
            named = _names(hints.get(hint))
            if named and set(named) != set(source.key.columns):
                yield (
                    f"has the {hint} {', '.join(named)}, but its source merges by "
                    f"{', '.join(source.key.columns)}. Declare the one that is meant: key=MergeKey((…,))."
                )
    for name, column in _columns(hints).items():
        if column.get("hard_delete") and (source.key is None or source.key.deleted != name):
            yield (
                f"marks deletions in {name} (hard_delete). Declare it, or they would stay in the table: "
                f'write_disposition="merge", key=MergeKey((…,), deleted="{name}").'
            )
        order = column.get("dedup_sort")
        if order and (source.key is None or source.key.cursor != name or order != "desc"):
            yield (
                f"sorts rows of one key by {name} (dedup_sort={order!r}). Declare the column whose greatest "
                f'value wins: write_disposition="merge", key=MergeKey((…,), cursor="{name}").'
            )


def _columns(hints: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    columns = hints.get("columns") or {}
    if isinstance(columns, Mapping):
        return {name: hint for name, hint in columns.items() if isinstance(hint, Mapping)}
    if isinstance(columns, list | tuple):
        return {hint["name"]: hint for hint in columns if isinstance(hint, Mapping)}
    return {}


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, list | tuple) else []
