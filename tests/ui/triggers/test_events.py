"""What a person does with events: emit one, follow it to its job, try a trigger on a past one."""

import re

from playwright.async_api import expect


async def test_an_emitted_event_leads_to_its_job(sign_in, dashboard):
    page = await sign_in(path="/events")
    await page.get_by_role("button", name="Emit…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("order.paid")
    await dialog.get_by_label("Data").fill('{"order": 12}')
    await dialog.get_by_role("button", name="Emit", exact=True).click()
    await expect(dialog.get_by_text("Made a job")).to_be_visible()
    await dialog.get_by_role("link", name=re.compile("Open event")).click()

    await expect(page.get_by_role("heading", name="order.paid")).to_be_visible()
    await page.locator("a[href*='/jobs/']").click()
    await page.wait_for_url("**/jobs/*")
    job = page.url.rpartition("/")[2]
    assert await dashboard.wl.jobs.wait(job, 60) == "parcel-12"


async def test_an_event_whose_template_fails_tells_why(sign_in, dashboard):
    event = await dashboard.wl.emit("order.paid", {"customer": 3})
    page = await sign_in(path=f"/events/{event.id}")

    await expect(page.get_by_text("there is no event.order")).to_be_visible()
    await expect(page.get_by_role("listitem").get_by_text("Failed")).to_be_visible()


async def test_a_trigger_is_tested_against_a_past_event(sign_in, dashboard):
    good = await dashboard.wl.emit("order.paid", {"order": 77})
    bad = await dashboard.wl.emit("order.paid", {"customer": 3})
    page = await sign_in(path="/schedules?show=event")
    await page.get_by_role("button", name=re.compile("Actions on order.pack")).click()
    await page.get_by_role("menuitem", name="Test…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Event").select_option(str(good.id))
    await dialog.get_by_role("button", name="Test").click()
    await expect(dialog.get_by_text("It matches, and would make a job.")).to_be_visible()
    await expect(dialog.get_by_role("status")).to_contain_text("77")

    await dialog.get_by_label("Event").select_option(str(bad.id))
    await dialog.get_by_role("button", name="Test").click()
    await expect(dialog.get_by_text("It matches, but no job could be made.")).to_be_visible()


async def test_an_event_is_replayed(sign_in, dashboard):
    event = await dashboard.wl.emit("order.paid", {"order": 5})
    page = await sign_in(path=f"/events/{event.id}")
    await page.get_by_role("button", name="Replay…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Replay").click()

    await expect(page.get_by_text("order.paid is replayed: 1 job.")).to_be_visible()
    assert str(event.id) not in page.url
