"""Days with values that cannot be."""

from orders_lake import change

FAULTS = [
    change("a status that is none", "validity_status", "status", "'lost'", "n = 7", quarantined=1),
    change("a status in capitals", "validity_status", "status", "'PAID'", "n = 9", quarantined=1),
    change("a negative quantity", "validity_quantity", "quantity", "-2", "n = 7", quarantined=1),
    change(
        "a quantity of a mistyped zero more", "validity_quantity", "quantity", "1000", "n = 5", quarantined=1
    ),
    change("too many bad rows to go on without", "validity_gate_good_rows", "status", "'lost'", "n < 8"),
    change("an invoice number without its year", "validity_invoice", "invoice", "'INV-03-09-07'", "n = 7"),
    change("an invoice number with a line end", "validity_invoice", "invoice", "invoice || chr(10)", "n = 7"),
    change("two addresses in one", "validity_email", "email", "'a@example.com;b@example.com'", "n = 7"),
    change("a country by its long code", "validity_country_length", "country", "'JPN'", "n = 7"),
    change("a country that there is not", "validity_country_known", "country", "'XX'", "n = 7"),
    change("a sku that was cut", "validity_sku", "sku", "'SKU'", "n = 7"),
    change("a sku with a name behind it", "validity_sku", "sku", "'SKU007-blue'", "n = 7"),
    change("skus lost their zeros", "validity_sku_avg_length", "sku", "left(sku, 3) || n % 10"),
    change("a sku lost its zeros", "validity_sku_min_length", "sku", "'SKU7'", "n = 7"),
    change("a sku got a zero more", "validity_sku_max_length", "sku", "'SKU0007'", "n = 7"),
    change(
        "the shop sells by the pallet",
        "validity_quantity_max",
        "quantity",
        "60",
        "channel = 'shop' and n = 7",
    ),
    change("a price below zero", "validity_price", "price", "-0.01", "n = 7"),
    change("a price out of all bounds", "validity_price", "price", "1e9", "n = 7"),
    change("a price that is no number", "validity_price", "price", "'nan'::double", "n = 7"),
    change("a price without end", "validity_price", "price", "'infinity'::double", "n = 7"),
    change("prices in cents", "validity_price_avg", "price", "price * 100"),
    change("a price in thousands", "validity_price_min", "price", "price / 1000", "n = 7"),
    change(
        "totals are those of a single piece", "validity_total_sum", "total", "(total / 10)::decimal(12, 2)"
    ),
    change(
        "some totals do not add up", "validity_total", "total", "(total + 1)::decimal(12, 2)", "n in (7, 8)"
    ),
    change("a test's voucher", "validity_voucher", "voucher", "'TEST'", "n = 8"),
    change(
        "shipped before it was ordered",
        "validity_shipped_after",
        "shipped_at",
        "placed_at - interval 1 day",
        "n = 7",
    ),
    change("nearly nothing is paid", "validity_paid_share", "status", "'cancelled'", "n > 4"),
]
