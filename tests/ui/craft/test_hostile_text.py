"""Hostile text in every field that is shown does nothing: it is only text, on every screen."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.cli.framework.command_lines import There, furnish
from tests.support.hostile_rows import poison
from tests.support.processes.shell import Shell

#: Markup that would run a script, in an attribute and out of it; a direction, a character of no width,
#: and a terminal's colour. A name has room for it.
HOSTILE = (
    '"\'><img src=x onerror="window.hacked=1"><script>window.hacked=1;'
    "<svg onload=alert(1)>\u202e\u200b\x1b[31m"
)
SCREENS = (
    "/", "/jobs", "/dead", "/definitions", "/schedules", "/events", "/workers", "/queues", "/logs",
    "/tenants", "/fleet", "/audit", "/settings", "/operations",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def there(folder: Path) -> There:
    """Ids of what is in the hostile database."""
    shell = Shell(folder)
    there = furnish(shell)
    shell.close()
    poison(folder / "windlass.db", HOSTILE)
    return there


@pytest_asyncio.fixture(loop_scope="session")
async def hostile(
    browser: Browser, bundle: None, folder: Path, there: There
) -> AsyncIterator[Page]:
    """A page of a server on that database, which asks for no credential."""
    shell = Shell(folder)
    server = shell.start("serve", "--port", "0", "--no-auth")
    said = server.sees(r"The API is at http://\S+/api/v1")
    address = said[said.index("http://") :].split("/api/v1")[0]
    context = await browser.new_context(base_url=address, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = await context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield page
    await context.close()
    shell.close()
    assert wrong == []


async def test_no_screen_acts_on_hostile_text(hostile: Page, there: There) -> None:
    details = (
        *(f"/jobs/{there[kind]}" for kind in ("job", "done", "dead")),
        f"/events/{there['event']}",
        f"/definitions/{quote('hello' + HOSTILE, safe='')}",
        f"/queues/{quote('default' + HOSTILE, safe='')}",
    )

    for path in (*SCREENS, *details):
        await hostile.goto(path)
        await expect(hostile.get_by_role("heading", level=1)).to_be_visible()
        await expect(hostile.get_by_label("Loading")).to_have_count(0)

        assert await hostile.evaluate("window.hacked") is None, path
        assert await hostile.locator("img[src=x], svg[onload], main script").count() == 0, path
        await expect(hostile.get_by_text("This screen failed.")).to_have_count(0)


async def test_hostile_text_is_shown_as_text(hostile: Page) -> None:
    await hostile.goto("/queues")

    await expect(
        hostile.get_by_role("main").get_by_text("<script>window.hacked=1;").first
    ).to_be_visible()
