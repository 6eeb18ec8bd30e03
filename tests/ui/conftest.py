"""Fixtures: a browser for each test process, a page for each test, an installation for each module.

Tests are async functions; all of a process share one event loop, which the browser belongs to.
"""

import fcntl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.databases.kinds import Database, requested_kinds
from tests.databases.packages import CHROMIUM, program
from tests.databases.plugin import Databases
from tests.layout.repository import ROOT
from tests.ui.installation import PATIENCE_SECONDS, Installation, installed

_FOLDER = Path(__file__).parent
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: The same for every database: the API between them is tested on all three.
_KINDS = [kind for kind in requested_kinds() if kind != "mariadb"]

NewPage = Callable[[str], Awaitable[Page]]
SignIn = Callable[..., Awaitable[Page]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _FOLDER in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def bundle() -> None:
    """The dashboard, built from the sources as they are."""
    with (ROOT / "ui" / "package.json").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # of several test processes one builds
        subprocess.run(["make", "ui"], cwd=ROOT, check=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=program(CHROMIUM, "chromium"),
            args=_FLAGS,
            timeout=PATIENCE_SECONDS * 1000,
        )
        yield started
        await started.close()


@pytest.fixture(scope="module", params=_KINDS)
def database(request: pytest.FixtureRequest, databases: Databases) -> Database:
    """A migrated database for the tests of a module."""
    return Database(request.param, databases.supply(request.param).migrated())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def dashboard(
    database: Database, bundle: None, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Installation]:
    """A running installation that the tests of a module share."""
    async with installed(database.url, tmp_path_factory.mktemp("installation")) as installation:
        yield installation


@pytest_asyncio.fixture(loop_scope="session")
async def new_page(browser: Browser, bundle: None) -> AsyncIterator[NewPage]:
    """Makes pages in browsers of their own, with nobody signed in, for the server at an address.

    At the end none may have had an error in its script, or anything that its policy forbids.
    """
    wrong: list[str] = []

    async def make(url: str) -> Page:
        context = await browser.new_context(base_url=url, reduced_motion="reduce")
        closing.push_async_callback(context.close)
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        page = await context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console",
            lambda line: wrong.append(line.text) if "Security Policy" in line.text else None,
        )
        return page

    async with AsyncExitStack() as closing:
        yield make
    assert wrong == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(new_page: NewPage, dashboard: Installation) -> Page:
    """A page of the installation, with nobody signed in."""
    return await new_page(dashboard.url)


@pytest.fixture
def sign_in(page: Page, dashboard: Installation) -> SignIn:
    """Opens a path of the dashboard as the user of a role: superadmin, tenant_admin or user."""

    async def open_as(role: str = "superadmin", path: str = "/") -> Page:
        session = {"name": "windlass_session", "value": dashboard.sessions[role]}
        await page.context.add_cookies([{**session, "url": dashboard.url}])
        await page.goto(path)
        return page

    return open_as
