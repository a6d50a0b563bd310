"""One `dagster dev` and one browser for all tests of the UI."""

import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from dagster_dev import Lakehouse, running_in
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

NO_BROWSER = (
    "The tests of the UI need a browser: `apt-get install chromium`"
    " or `.venv/bin/playwright install chromium`."
)
SKIPPED = pytest.StashKey[bool]()
PICTURE = pytest.StashKey[Callable[[], str]]()

# Works without a display, a GPU or a network, and as root in a container.
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]

expect.set_options(timeout=30_000)  # Playwright's 5 seconds are short for a busy machine


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as playwright:
        executable = chromium(playwright)
        if executable is None:
            request.config.stash[SKIPPED] = True
            pytest.skip(NO_BROWSER)
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


def chromium(playwright: Playwright) -> str | None:
    """The system's Chromium or Playwright's own, if either is installed."""
    own = playwright.chromium.executable_path
    return shutil.which("chromium") or (own if Path(own).exists() else None)


@pytest.fixture(scope="module")
def lakehouse(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lakehouse]:
    """A running `dagster dev`; it needs the browser so that nothing starts without one."""
    with running_in(tmp_path_factory.mktemp("lakehouse")) as lakehouse:
        yield lakehouse


@pytest.fixture
def page(browser: Browser, lakehouse: Lakehouse, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A new page of the UI."""
    page = browser.new_page(base_url=lakehouse.url, viewport={"width": 1500, "height": 950})
    request.node.stash[PICTURE] = lambda: picture(page, lakehouse, request.node.name)
    yield page
    page.close()


def picture(page: Page, lakehouse: Lakehouse, test: str) -> str:
    """Keep what the page shows; returns where."""
    file = lakehouse.log.with_name(f"{test}.png")
    page.screenshot(path=file)
    return f"{file}, of {page.url}; the server's log is {lakehouse.log}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """When a test fails, say where a picture of the page is."""
    report = yield
    if report.failed and report.when != "teardown" and PICTURE in item.stash:
        report.sections.append(("What the page showed", item.stash[PICTURE]()))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once why the tests were skipped."""
    if terminalreporter.config.stash.get(SKIPPED, False):
        terminalreporter.write_line(NO_BROWSER)
