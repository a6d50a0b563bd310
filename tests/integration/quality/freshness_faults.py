"""Days whose data is older than it should be, or newer than it can be."""

from orders_lake import Fault, change, only

EVENING = "timezone('Asia/Tokyo', placed_at) >= timestamp '2024-03-09 19:00'"
NOON = "timezone('Asia/Tokyo', timestamp '2024-03-09 12:00')"

FAULTS = [
    only("the evening's orders come tomorrow", "freshness_placed_at", f"not ({EVENING})"),
    change(
        "the evening's orders all have the time of noon", "freshness_placed_at", "placed_at", NOON, EVENING
    ),
    change(
        "local times are taken for UTC", "freshness_placed_at", "placed_at", "placed_at + interval 9 hour"
    ),
    change("UTC is taken for local time", "freshness_placed_at", "placed_at", "placed_at - interval 9 hour"),
    change(
        "one till's clock is a year ahead",
        "freshness_placed_at",
        "placed_at",
        "placed_at + interval 1 year",
        "n = 5",
    ),
    change("the year is mistyped", "freshness_placed_at", "placed_at", "placed_at - interval 1 year"),
    change("times are counted from 1970", "freshness_placed_at", "placed_at", "to_timestamp(n)"),
    Fault(
        "a backfill brings the rows of the day before under this day's date",
        "select * replace (date '2024-03-09' as order_date) from day_before",
        "freshness_placed_at",
    ),
    change(
        "the shop's tills stopped at noon",
        "freshness_placed_at_shop",
        "placed_at",
        NOON,
        f"channel = 'shop' and {EVENING}",
    ),
    change("nothing left the house since noon", "freshness_shipped_at", "shipped_at", "null", EVENING),
    change("when it was shipped is not filled any more", "freshness_shipped_at", "shipped_at", "null"),
    change(
        "the packing's times, without a zone, end at noon",
        "freshness_packed_at",
        "packed_at",
        "timestamp '2024-03-09 12:00'",
        EVENING,
    ),
    change("the stock is that of two days ago", "freshness_stock_on", "stock_on", "stock_on - 2"),
]
