"""The keys of a contract and of its columns, with what may stand in each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args
from zoneinfo import available_timezones

from lakehouse.quality.distribution.keys import distribution_faults

SchemaMode = Literal["evolve", "freeze", "discard_value", "discard_row"]
PiiClass = Literal["none", "personal", "sensitive"]
TIERS = (1, 2, 3)
VERSION = re.compile(r"\d+\.\d+\.\d+")

REQUIRED_KEYS = ("dataset", "version", "owner", "tier", "columns")
KEYS = (
    *REQUIRED_KEYS,
    "description",
    "schema_mode",
    "timezone",
    "gates",
    "freshness",
    "distribution",
    "checks",
)
REQUIRED_COLUMN_KEYS = ("name", "data_type")
COLUMN_KEYS = (*REQUIRED_COLUMN_KEYS, "description", "nullable", "pii", "zone", "optional", "checks")
PERCENT_GATES = ("good_rows_percent", "row_count_change_percent")
GATES = (*PERCENT_GATES, "may_be_empty")
FRESHNESS = ("due_within_hours", "loaded_within_hours")

_KINDS: Mapping[type, tuple[str, ...]] = {
    str: ("dataset", "owner", "description", "schema_mode", "timezone", "name", "data_type", "pii", "zone"),
    bool: ("nullable", "optional", "may_be_empty"),
    list: ("columns", "checks"),
    dict: ("gates", "freshness", "distribution"),
}
_MAY_BE_EMPTY = ("description", "checks", "gates", "freshness")
_IN_WORDS = {str: "a text", bool: "true or false", list: "a list", dict: "a mapping"}


def contract_faults(said: Mapping[str, Any], table: str) -> Iterator[str]:
    """What keeps this from being a contract of the table, apart from its checks."""
    yield from _key_faults(said, KEYS, REQUIRED_KEYS, "the contract")
    expected = "lakehouse/" + table.replace(".", "/")
    if said.get("dataset", expected) != expected:
        yield f"dataset is {said['dataset']!r}, but this is the file of {expected!r}"
    version = said.get("version", "1.0.0")
    if not isinstance(version, str) or not VERSION.fullmatch(version):
        yield f'version {version!r} is not three numbers in quotes such as "1.0.0"'
    if said.get("tier", 1) not in TIERS:
        yield f"tier is {said['tier']!r}; known are 1, 2 and 3"
    yield from _one_of(said, "schema_mode", get_args(SchemaMode))
    timezone = said.get("timezone", "UTC")
    if isinstance(timezone, str) and timezone not in available_timezones():
        yield f"timezone is {timezone!r}, which is no time zone such as America/New_York"
    if isinstance(gates := said.get("gates"), dict):
        yield from _gate_faults(gates)
    if isinstance(freshness := said.get("freshness"), dict):
        yield from _freshness_faults(freshness)
    if isinstance(columns := said.get("columns"), list):
        yield from _columns_faults(columns)
        if isinstance(distribution := said.get("distribution"), dict):
            yield from distribution_faults(distribution, columns)


def _gate_faults(gates: Mapping[str, Any]) -> Iterator[str]:
    yield from _key_faults(gates, GATES, (), "gates")
    for key in PERCENT_GATES:
        number = gates.get(key, 0)
        if number is None and key == "row_count_change_percent":
            continue
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            yield f"gates: {key} is {number!r}, not a number of percent"


def _freshness_faults(freshness: Mapping[str, Any]) -> Iterator[str]:
    yield from _key_faults(freshness, FRESHNESS, (), "freshness")
    for key in FRESHNESS:
        hours = freshness.get(key, 1)
        if isinstance(hours, bool) or not isinstance(hours, int | float) or hours <= 0:
            yield f"freshness: {key} is {hours!r}, not a number of hours"


def _columns_faults(columns: list[Any]) -> Iterator[str]:
    seen: set[str] = set()
    for column in columns:
        if not isinstance(column, dict):
            yield f"columns has {column!r}, which is not written as `- name:` with more keys below it"
            continue
        name = str(column.get("name", "?"))
        yield from _key_faults(column, COLUMN_KEYS, REQUIRED_COLUMN_KEYS, f"column {name}")
        yield from _one_of(column, "pii", get_args(PiiClass), f"column {name}: ")
        if name.lower() in seen:  # DuckDB tells no case apart
            yield f"column {name} is there twice"
        seen.add(name.lower())


def _key_faults(
    said: Mapping[str, Any], known: tuple[str, ...], required: tuple[str, ...], where: str
) -> Iterator[str]:
    for key in said:
        if key not in known:
            yield f"{where} has the unknown key {key!r}; known are {', '.join(known)}"
    for key in required:
        if not said.get(key):
            yield f"{where} has no {key}"
    for kind, keys in _KINDS.items():
        for key in keys:
            left_empty = key in _MAY_BE_EMPTY and said.get(key) is None
            if key in known and key in said and not left_empty and not isinstance(said[key], kind):
                yield f"{where}: {key} is {said[key]!r}, not {_IN_WORDS[kind]}"


def _one_of(said: Mapping[str, Any], key: str, known: tuple[str, ...], where: str = "") -> Iterator[str]:
    if said.get(key, known[0]) not in known:
        yield f"{where}{key} is {said[key]!r}; known are {', '.join(known)}"
