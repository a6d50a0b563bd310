"""Days with rows that are there twice."""

from orders_lake import added, change

FAULTS = [
    added("a row is there twice", "uniqueness_order_id_line", "select * from good where n = 7"),
    added(
        "some rows were sent again", "uniqueness_order_id_line", "select * from good where n between 4 and 13"
    ),
    added(
        "a row was corrected and the old one kept",
        "uniqueness_order_id_line",
        "select * replace (price + 1 as price) from good where n = 7",
    ),
    added(
        "a join gives each line of an order once more",
        "uniqueness_order_id_line",
        "select * from good where order_id = (select min(order_id) from good)",
    ),
    change(
        "two orders have one number", "uniqueness_order_id_line", "order_id", "order_id - 1", "n in (6, 7)"
    ),
    change("an order has two first lines", "uniqueness_order_id_line", "line", "1", "n = 7"),
    change("two rows have no line and one order", "uniqueness_order_id_line", "line", "null", "n in (6, 7)"),
    change("an invoice is there twice", "uniqueness_invoice", "invoice", "'INV-2024-03-09-08'", "n = 7"),
    change("all invoices are the same", "uniqueness_invoice", "invoice", "'INV-2024-03-09-08'"),
    change(
        "an invoice differs in case from another",
        "uniqueness_invoice_as_typed",
        "invoice",
        "'inv-2024-03-09-08'",
        "n = 7",
    ),
    change(
        "an invoice differs in blanks from another",
        "uniqueness_invoice_as_typed",
        "invoice",
        "'INV-2024-03-09-08 '",
        "n = 7",
    ),
    change("a voucher was used twice", "uniqueness_voucher", "voucher", "'V00'", "n = 4"),
    change(
        "half of the addresses are one default",
        "uniqueness_email",
        "email",
        "'noreply@example.com'",
        "n % 2 = 0",
    ),
    change(
        "two orders of one address are open",
        "uniqueness_open_orders",
        "address",
        "{'street': 'Street 0', 'zip': address.zip}",
        "n = 5",
    ),
]
