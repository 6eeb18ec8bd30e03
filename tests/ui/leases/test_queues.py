"""A queue is paused with a reason, which is shown to who asks, and resumed."""

import re

from playwright.async_api import expect


async def test_a_queue_is_paused_with_a_reason_and_resumed(sign_in, dashboard):
    page = await sign_in(path="/queues")
    row = page.get_by_role("row", name=re.compile("payments"))
    await row.get_by_role("button", name="Actions for payments").click()
    await page.get_by_role("menuitem", name="Pause…").click()
    await page.get_by_label("Reason").fill("the bank is closed")
    await page.get_by_role("button", name="Pause queue").click()

    await expect(row).to_contain_text("the bank is closed")
    [payments] = [each for each in await dashboard.wl.queues.list() if each.name == "payments"]
    assert payments.pause_reason == "the bank is closed"

    await row.get_by_role("button", name="Actions for payments").click()
    await page.get_by_role("menuitem", name="Resume").click()

    await expect(row).not_to_contain_text("the bank is closed")


async def test_a_tenants_admin_sees_queues_and_may_not_pause_them(sign_in):
    page = await sign_in("tenant_admin", "/queues")

    await expect(page.get_by_role("row", name=re.compile("payments"))).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("Actions for"))).to_have_count(0)
