"""What a person clicks in Dagster's UI, and what they wait to see."""

import re
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

RUN_SECONDS = 120
BACKFILL_SECONDS = 180  # the daemon looks at backfills every 30 seconds, at their start, middle and end
STATUSES = {"Success": True, "Succeeded": True, "Failure": False, "Failed": False, "Canceled": False}
FINISHED = re.compile(rf"^({'|'.join(STATUSES)})$")


def open_graph(page: Page, *assets: str) -> None:
    """Open the asset graph, filtered to these assets."""
    selection = " or ".join(f'key:"{asset}"' for asset in assets)
    page.goto(f"/asset-groups~{quote(selection, safe='')}")


def materialize(page: Page, partitions: str | None = None, quick_choice: str | None = None) -> None:
    """Click Materialize, choose partitions if there are any, and follow the link to what was started.

    Args:
        partitions: typed, as `2013-01-01` or `[2013-01-01...2013-01-03]`.
        quick_choice: a button that chooses partitions, as `Failed`.
    """
    page.get_by_role("button", name=re.compile("Materialize")).click()
    dialog = page.get_by_role("dialog").filter(has_text="Partition selection")
    if partitions:
        dialog.get_by_placeholder(re.compile("^ex: ")).fill(partitions)
        page.keyboard.press("Enter")
    if quick_choice:
        dialog.get_by_role("button", name=quick_choice, exact=True).click()
    if partitions or quick_choice:
        dialog.get_by_role("button", name=re.compile("^Launch")).click()
    page.get_by_role("link", name="View", exact=True).click()
    page.wait_for_url("**/runs/**")


def run_succeeds(page: Page) -> bool:
    """Wait on a run's page until it ends."""
    return _outcome(page.get_by_text(FINISHED).first, RUN_SECONDS)


def backfill_succeeds(page: Page) -> bool:
    """Wait on a backfill's page until it ends."""
    status = page.locator(":text-is('Status') + *").filter(has_text=FINISHED)
    return _outcome(status, BACKFILL_SECONDS)


def open_run_of_backfill(page: Page) -> None:
    """From a backfill's page, open the first run it starts."""
    page.get_by_role("tab", name="Runs").click()
    runs_of_backfill(page).first.click(timeout=BACKFILL_SECONDS * 1000)
    page.wait_for_url(re.compile("/runs/[0-9a-f]{8}-"))


def runs_of_backfill(page: Page) -> Locator:
    """The runs listed on a backfill's page, by the first digits of their ids."""
    return page.get_by_role("link", name=re.compile("[0-9a-f]{8}$"))


def _outcome(status: Locator, seconds: int) -> bool:
    expect(status).to_be_visible(timeout=seconds * 1000)
    return STATUSES[status.inner_text().strip()]
