"""A text of a contract is the same text to Soda, which reads another version of YAML."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from contracts import read, with_check

from lakehouse.quality.soda import SodaContract


@pytest.mark.parametrize(
    "text", ["1e3", "0o7", "no", "08", "1:30", "~", "it's", 'say "a"', "# a", "a: b", "é\n"]
)
def test_a_valid_value_stays_the_text_that_it_is(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    contract = read(tmp_path, with_check({"invalid": {"valid_values": [text]}}, "kind"))
    connection.execute("create schema silver")
    rows = "values (1, ?, now()), (2, 'other', now())"
    connection.execute(f'create table silver.t as from ({rows}) as rows(id, kind, "at")', [text])

    judged = SodaContract(contract, connection).judge(datetime.now(UTC))["validity_kind"]

    assert (judged.outcome, judged.measured) == ("failed", 1)
