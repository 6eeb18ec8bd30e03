"""What a person does with schedules: make one and see its dates, pause it, delete it."""

import pytest
from playwright.async_api import expect

from windlass.errors import TriggerNotFound


async def _begin(page, name):
    await page.get_by_role("button", name="New…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).first.fill(name)
    await dialog.get_by_label("Definition").select_option("hello")
    await dialog.get_by_label("Time zone", exact=True).fill("berlin")
    await page.keyboard.press("Enter")
    return dialog


async def test_a_schedule_is_made_with_its_dates_in_view_and_paused(sign_in, dashboard):
    page = await sign_in(path="/schedules")
    dialog = await _begin(page, "greet daily")
    await dialog.get_by_label("Cron expression").fill("30 9 * * *")

    await expect(dialog.get_by_text("“every day at 09:30 (Europe/Berlin)”")).to_be_visible()
    await expect(dialog.get_by_role("row")).to_have_count(6)
    payload = dialog.get_by_role("region", name="Payload of its jobs")
    await payload.get_by_label("Name").fill("Ada")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("link", name="greet daily")).to_be_visible()
    made = await dashboard.wl.schedules.get("greet daily")
    assert (made.timezone, made.payload) == ("Europe/Berlin", {"name": "Ada"})

    await page.get_by_role("switch", name="greet daily enabled").click()
    await expect(page.get_by_text("greet daily is disabled")).to_be_visible()
    assert not (await dashboard.wl.schedules.get("greet daily")).enabled


async def test_an_expression_that_cannot_be_read_is_marked_and_not_saved(sign_in):
    page = await sign_in(path="/schedules")
    dialog = await _begin(page, "never")
    await expect(dialog.get_by_text("“every day at 02:00 (Europe/Berlin)”")).to_be_visible()
    await dialog.get_by_label("Cron expression").fill("0 61 * * *")

    await expect(dialog.get_by_text("`61` is not an hour, use 0–23")).to_be_visible()
    await expect(dialog.locator("mark")).to_have_text("61")
    await expect(dialog.get_by_text("before the last change")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Save")).to_be_disabled()

    await dialog.get_by_label("Cron expression").fill("0 2 31 2 *")
    await expect(dialog.get_by_text("February has no day 31").first).to_be_visible()
    await expect(dialog.get_by_role("button", name="Save")).to_be_disabled()


async def test_a_schedule_is_deleted_once_its_name_is_typed(sign_in, dashboard):
    await dashboard.wl.schedules.create(
        "short-lived", definition="hello", schedule="0 4 * * *", payload={"name": "Ada"}
    )
    page = await sign_in(path="/schedules")
    await page.get_by_role("button", name="Actions on short-lived").click()
    await page.get_by_role("menuitem", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    button = dialog.get_by_role("button", name="Delete")
    await expect(button).to_be_disabled()
    await dialog.get_by_label("Type").fill("short-lived")
    await button.click()

    await expect(page.get_by_role("link", name="short-lived")).to_be_hidden()
    with pytest.raises(TriggerNotFound):
        await dashboard.wl.schedules.get("short-lived")


async def test_a_schedule_runs_now(sign_in, dashboard):
    await dashboard.wl.schedules.create(
        "by hand", definition="hello", schedule="0 4 * * *", payload={"name": "Hedy"}
    )
    page = await sign_in(path="/schedules")
    await page.get_by_role("button", name="Actions on by hand").click()
    await page.get_by_role("menuitem", name="Run now").click()

    await page.wait_for_url("**/jobs/*")
    job = page.url.rpartition("/")[2]
    assert await dashboard.wl.jobs.wait(job, 60) == "Hello, Hedy!"
