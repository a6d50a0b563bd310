"""Days whose columns are not the contract's.

Each names what the gate says of it where the table is new. A table that exists refuses some of
them before: their type does not fit it.
"""

from orders_lake import Fault

GATE = "drift_gate_columns"


def retyped(what: str, column: str, value: str, said: str) -> tuple[Fault, str]:
    return Fault(what, f"select * replace ({value} as {column}) from good", GATE), said


def reshaped(what: str, columns: str, said: str) -> tuple[Fault, str]:
    return Fault(what, f"select {columns} from good", GATE), said


FAULTS = [
    reshaped("a column is missing", "* exclude (channel)", "channel is missing"),
    reshaped(
        "a column has a new name", "* rename (channel as source)", "channel is missing; source (string) is"
    ),
    reshaped(
        "a column has another case",
        "* rename (channel as Channel)",
        "channel is missing; Channel (string) is",
    ),
    reshaped(
        "two columns have each other's name",
        "* rename (n as channel, channel as n)",
        "channel is long, declared string",
    ),
    reshaped(
        "a struct was made flat",
        "* exclude (address), address.street, address.zip",
        "address is missing; street (string) is",
    ),
    retyped("a date is text", "stock_on", "stock_on::varchar", "stock_on is string, declared date"),
    retyped("a number is text", "quantity", "quantity::varchar", "quantity is string, declared int"),
    retyped("a text is a number", "sku", "n", "sku is long, declared string"),
    retyped("a number is wider", "quantity", "quantity::bigint", "quantity is long, declared int"),
    retyped("a decimal is a double", "total", "total::double", "total is double, declared decimal(12, 2)"),
    retyped(
        "a decimal has more places", "total", "total::decimal(12, 4)", "total is decimal(12, 4), declared"
    ),
    retyped("a decimal is wider", "total", "total::decimal(18, 2)", "total is decimal(18, 2), declared"),
    retyped(
        "a time lost its zone", "shipped_at", "shipped_at::timestamp", "shipped_at is timestamp, declared"
    ),
    retyped("a time has a zone", "packed_at", "packed_at::timestamptz", "packed_at is timestamptz, declared"),
    retyped("a time is a day", "shipped_at", "shipped_at::date", "shipped_at is date, declared"),
    retyped("a number is a truth", "quantity", "quantity > 1", "quantity is boolean, declared int"),
    retyped("a value is a list", "channel", "[channel]", "channel is list<string>, declared string"),
    retyped("a struct is text", "address", "address::varchar", "address is string, declared struct"),
    retyped("a field is missing", "address", "{'zip': address.zip}", "address.street is missing"),
    retyped(
        "a field has a new name",
        "address",
        "{'zip': address.zip, 'road': address.street}",
        "address.street is missing",
    ),
    retyped(
        "a field is new",
        "address",
        "{'street': address.street, 'zip': address.zip, 'city': 'Kyoto'}",
        "address is struct<street: optional string, zip: optional string, city",
    ),
    retyped(
        "a field has another type",
        "address",
        "{'street': address.street, 'zip': n}",
        "address is struct<street: optional string, zip: optional long",
    ),
]
