"""Soda judges rows by a contract. With its `soda_…` neighbours the only module that knows Soda.

A contract is parsed once and evaluated for each partition: Soda's own session parses it anew every
time, which took most of the time. For that this uses what stands behind the session (`ContractImpl`,
its queries and checks); `tests/integration/ingest/test_contract_audit.py` notices if that changes.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakehouse.quality.check_result import FAILED, NOT_EVALUATED, PASSED, WARNED
from lakehouse.quality.contract import Contract
from lakehouse.quality.contract_checks import ContractCheck
from lakehouse.quality.errors import ContractError
from lakehouse.quality.soda_forms import asked_as_duckdb_is_fast
from lakehouse.quality.soda_keys import measure_keys, take_out_keys
from lakehouse.quality.soda_queries import measure
from lakehouse.storage.sql import identifier, literal, qualified

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

OWN_ATTRIBUTE = "lakehouse_check"
# Where a check of Soda's keeps what counts its failing rows.
_METRIC_OF_ROWS = {
    "missing": "missing_count_metric_impl",
    "invalid": "invalid_count_metric_impl",
    "failed_rows": "failed_rows_count_metric_impl",
}


@dataclass(frozen=True)
class Judgement:
    """What a check came to.

    Args:
        outcome: passed, warned, failed or not_evaluated.
        measured: what the threshold is compared with.
        threshold: in words.
        metrics: the numbers behind it.
    """

    outcome: str
    measured: float | None = None
    threshold: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)


class SodaContract:
    """A contract that is ready to judge `layer.table` on a DuckDB connection.

    Args:
        connection: on which the table's name, and those of tables the contract refers to, are views.

    Raises:
        ContractError: Soda does not accept the contract; the message is Soda's.
    """

    def __init__(self, contract: Contract, connection: "DuckDBPyConnection | None" = None) -> None:
        _import_soda()
        from soda_core.common.logs import Logs, preserve_active_logs
        from soda_core.common.yaml import ContractYamlSource, YamlObject
        from soda_core.contracts.impl.contract_verification_impl import ContractImpl
        from soda_duckdb.common.data_sources.duckdb_data_source import DuckDBDataSourceImpl

        self.contract = contract
        source = None
        if connection is not None:
            source = DuckDBDataSourceImpl.from_existing_cursor(connection, name="lakehouse")
        with preserve_active_logs(), _refusals(contract.table):
            self._logs = Logs()
            said = ContractYamlSource.from_str(
                ""
            )  # its text would be read in another version of YAML, slowly
            parsed = ContractImpl.yaml_class.parse(
                yaml_source=said,
                yaml_object=YamlObject(said, _as_soda_reads_it(contract)),
                primary_data_source_impl=source,
            )
            self._soda: Any = ContractImpl(
                yaml=parsed,
                data_source_impl=source,
                logs=self._logs,
                only_validate_without_execute=source is None,
            )
        self._keys = take_out_keys(self._soda)
        self._connection: Any = connection
        if faults := self._faults():
            raise ContractError(f"{contract.table}: " + "; ".join(faults))
        self._checks: dict[str, Any] = {
            check.attributes[OWN_ATTRIBUTE]: check for check in self._soda.all_check_impls
        }
        if missing := [check.name for check in contract.checks if check.name not in self._checks]:
            raise ContractError(f"{contract.table}: Soda left out {', '.join(missing)}")

    def judge(self, now: datetime) -> dict[str, Judgement]:
        """Each check on the rows that the table's view has now.

        Args:
            now: the time that freshness is relative to.
        """
        judged = self._judged(now)
        for fault in dict.fromkeys(self._faults()):
            logging.getLogger(__name__).error("%s: %s", self.contract.table, fault)
        return judged

    def rehearse(self) -> list[str]:
        """What keeps the checks from being evaluated, whatever rows the views have."""
        self._judged(datetime.now(UTC))
        return list(dict.fromkeys(self._faults()))

    def _judged(self, now: datetime) -> dict[str, Judgement]:
        from soda_core.common.logs import Logs, preserve_active_logs
        from soda_core.contracts.impl.contract_verification_impl import DerivedMetricImpl, MeasurementValues

        with preserve_active_logs():
            self._logs = self._soda.logs = Logs()
            self._soda.yaml.data_timestamp = now
            values = MeasurementValues(self._measurements())
            self._soda.dataset_rows_tested = values.get_value(self._soda.row_count_metric_impl)
            for metric in self._soda.metrics:
                if isinstance(metric, DerivedMetricImpl):
                    values.derive_value(metric)
            return {name: _judgement(check, values) for name, check in self._checks.items()}

    def _measurements(self) -> list[Any]:
        source = self._soda.data_source_impl
        texts = [column.name for column in self.contract.columns if column.type.lower() == "varchar"]
        with asked_as_duckdb_is_fast(source.sql_dialect, texts):
            measured = measure(self._soda.queries)
        counted = self._soda.row_count_metric_impl.id
        rows = next((one.value for one in measured if one.metric_id == counted), None)
        return measured + measure_keys(self._connection, self.contract.table, self._keys, rows)

    def failing_rows(self, check: ContractCheck) -> str | None:
        """SQL of the condition that a failing row meets; None if the check is not of rows."""
        soda = self._checks[check.name]
        column = identifier(check.column) if check.column else ""
        reference = (check.body.get("valid_reference_data") or {}) if check.type == "invalid" else {}
        if reference:
            dataset = ".".join(reference["dataset"].split("/")[1:])
            listed = identifier(reference["column"])
            among = f"select {listed} from {qualified(dataset)} where {listed} is not null"
            return f"{column} is not null and {column} not in ({among})"  # in nulls nothing is not
        if check.type == "duplicate":
            columns = check.body.get("columns") or [check.column]
            key = ", ".join(map(identifier, columns))
            if any(name in check.body for name in ("missing_values", "missing_format", "column_expression")):
                return None  # what Soda counts there, this would not find
            rows = f"{qualified(self.contract.table)} where {check.body.get('filter') or 'true'}"
            twice = f"({key}) in (select ({key}) from {rows} group by all having count(*) > 1)"
            return f"({check.body['filter']}) and {twice}" if check.body.get("filter") else twice
        metric = getattr(soda, _METRIC_OF_ROWS.get(check.type, ""), None)
        condition = metric.sql_condition_expression() if metric is not None else None
        if condition is None:
            return None
        return str(self._soda.data_source_impl.sql_dialect.build_expression_sql(condition))

    def _faults(self) -> list[str]:
        records = self._logs.get_log_records()
        return [record.getMessage() for record in records if record.levelno >= logging.ERROR]


@contextmanager
def _refusals(table: str) -> Iterator[None]:
    """Soda raises what it does not log, in classes of its own and in none."""
    try:
        yield
    except Exception as error:
        raise ContractError(f"{table}: {' '.join(str(error).split())}") from error


def _judgement(check: Any, values: Any) -> Judgement:
    """One check, evaluated by Soda; what it could not measure is not evaluated."""
    required = check.get_required_metric_impls()
    threshold = _in_words(check)
    if required and not values.all_measured(*required):
        return Judgement(NOT_EVALUATED, threshold=threshold)
    # Where and how the check is written, which Soda sets down for each result.
    check._build_check_info = lambda: None
    result = check.evaluate(measurement_values=values)
    outcome = {"PASSED": PASSED, "WARN": WARNED, "FAILED": FAILED}.get(result.outcome.name, NOT_EVALUATED)
    numbers = {
        name: float(value)
        for name, value in (result.diagnostic_metric_values or {}).items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    measured = result.threshold_value
    return Judgement(
        outcome, float(measured) if isinstance(measured, (int, float)) else None, threshold, numbers
    )


def _in_words(check: Any) -> str:
    threshold = check.threshold
    if threshold is None:
        return ""
    said = [
        f"{key.replace('_', ' ')} {value:g}"
        for key, value in vars(threshold).items()
        if key.startswith("must") and isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    for key in ("must_be_between", "must_be_not_between"):
        limits = getattr(threshold, key, None)
        if limits is not None and not isinstance(limits, (int, float)):
            said.append(f"{key.replace('_', ' ')} {vars(limits)}")
    return " and ".join(said)


def _as_soda_reads_it(contract: Contract) -> dict[str, Any]:
    """The contract without what is ours alone, each check marked with its name."""
    columns = [
        {
            "name": column.name,
            "data_type": column.type,
            "checks": [_marked(check, contract) for check in contract.checks if check.column == column.name],
        }
        for column in contract.columns
    ]
    for column in columns:
        if not column["checks"]:
            del column["checks"]
    written = {"dataset": "lakehouse/" + contract.table.replace(".", "/"), "columns": columns}
    of_table = [_marked(check, contract) for check in contract.checks if check.column is None]
    return written | ({"checks": of_table} if of_table else {})


def _marked(check: ContractCheck, contract: Contract) -> dict[str, Any]:
    attributes = {**(check.body.get("attributes") or {}), OWN_ATTRIBUTE: check.name}
    # Soda tells checks apart by type and column, and refuses two that are of different functions.
    marks = {"qualifier": check.name, "attributes": attributes}
    return {check.type: {**_by_the_clock(check, contract), **check.body, **marks}}


def _by_the_clock(check: ContractCheck, contract: Contract) -> dict[str, str]:
    """Freshness by times that name no zone: they are of the contract's, where Soda takes them for UTC."""
    types = {column.name: column.type.lower() for column in contract.columns}
    column = str(check.body.get("column"))
    if check.type != "freshness" or types.get(column) not in ("date", "timestamp"):
        return {}
    local = f"cast({identifier(column)} as timestamp)"
    return {"column_expression": f"timezone({literal(contract.timezone)}, {local})"}


def _import_soda() -> None:
    """Import Soda, which otherwise reports its use to its maker."""
    os.environ["SODA_CORE_TELEMETRY_ENABLED"] = "false"
    import soda_core  # noqa: F401  (before soda_duckdb, which else prints a failed entry point)
