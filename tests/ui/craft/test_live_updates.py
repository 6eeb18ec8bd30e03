"""Two tabs share one stream; a tab that comes back shows what happened meanwhile."""

import re

from playwright.async_api import expect


async def test_two_tabs_share_one_stream(sign_in):
    first = await sign_in(path="/queues")
    streams = []
    first.context.on(
        "request", lambda request: streams.append(request.url) if "/stream" in request.url else None
    )
    await expect(first.get_by_role("button", name="Live")).to_be_visible()

    second = await first.context.new_page()
    await second.goto("/queues")
    await expect(second.get_by_role("button", name="Live")).to_be_visible()

    assert len(streams) <= 1, streams


async def test_a_change_appears_without_a_reload(sign_in, dashboard):
    page = await sign_in(path="/queues")
    row = page.get_by_role("row", name=re.compile("payments"))
    await expect(row).to_be_visible()
    await expect(page.get_by_role("button", name="Live")).to_be_visible()

    await dashboard.wl.queues.pause("payments", reason="the bank is closed")
    try:
        await expect(row).to_contain_text("the bank is closed")
    finally:
        await dashboard.wl.queues.resume("payments")
    await expect(row).not_to_contain_text("the bank is closed")


async def test_paused_updates_say_so_and_resume(sign_in, dashboard):
    page = await sign_in(path="/queues")
    await page.get_by_role("button", name="Live").click()
    await expect(page.get_by_role("button", name="Paused")).to_be_visible()

    await dashboard.wl.queues.pause("imports", reason="a full disk")
    await page.get_by_role("button", name="Paused").click()

    row = page.get_by_role("row", name=re.compile("imports"))
    await expect(row).to_contain_text("a full disk")
    await dashboard.wl.queues.resume("imports")
