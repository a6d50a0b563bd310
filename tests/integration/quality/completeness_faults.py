"""Days of which rows or values are missing."""

from orders_lake import Fault, change, only

FAULTS = [
    only("no order came", "completeness_gate_row_count", "false"),
    only("half of the orders are lost", "completeness_gate_row_count", "n < 22"),
    Fault(
        "the orders came twice and a quarter more",
        "select good.* from good, range(3) where n % 2 = 0 or range < 1",
        "completeness_gate_row_count",
    ),
    only("a third of the orders is lost", "completeness_row_count", "n % 3 <> 0 and n > 5"),
    only("the shop sent nothing", "completeness_row_count_shop", "channel <> 'shop'"),
    only("an hour is missing", "completeness_hours", "n // 2 <> 13"),
    only("the first line of an order is missing", "completeness_lines", "n <> 20"),
    change("a row has no key", "completeness_required_columns", "order_id", "null", "n = 7"),
    change("a row has no time", "completeness_required_columns", "placed_at", "null", "n = 7"),
    change("an address is null", "completeness_email", "email", "null", "n = 7"),
    change("an address is empty", "completeness_email", "email", "''", "n = 7"),
    change("an address is a word for none", "completeness_email", "email", "'n/a'", "n = 7"),
    change("an address is blank", "completeness_email_blank", "email", "'   '", "n = 7"),
    change("most vouchers are gone", "completeness_voucher", "voucher", "null", "n % 4 = 0"),
    change(
        "a field in a struct is null",
        "completeness_address_zip",
        "address",
        "{'street': address.street, 'zip': null}",
        "n = 7",
    ),
    change("a struct is null", "completeness_address_zip", "address", "null", "n = 7"),
    change("a quantity is null", "completeness_quantity", "quantity", "null", "n = 7", quarantined=1),
]
