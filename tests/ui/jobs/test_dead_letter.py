"""The dead letter: causes, and what is done about them."""

import contextlib
import re

from playwright.async_api import expect

from tests.ui.installation import PATIENCE_SECONDS
from windlass import JobFailed


async def fail_cards(dashboard, *numbers):
    """Dead-lettered jobs of one cause."""
    receipts = [
        await dashboard.wl.enqueue("card.check", {"number": n}, tenant="acme") for n in numbers
    ]
    for receipt in receipts:
        with contextlib.suppress(JobFailed):
            await dashboard.wl.jobs.wait(receipt.job_id, PATIENCE_SECONDS)
    return [str(receipt.job_id) for receipt in receipts]


async def test_a_payload_is_edited_in_its_form_and_retried(sign_in, dashboard):
    [job] = await fail_cards(dashboard, "seven")
    page = await sign_in(path="/dead")
    await page.get_by_role("link", name=re.compile("invalid literal")).first.click()
    await expect(page.get_by_text(re.compile(r"in check_card")).first).to_be_visible()

    await page.get_by_role("button", name="Edit payload and retry").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="number").fill("7")
    await expect(dialog.get_by_role("region", name="Changes")).to_contain_text('"number": "7"')
    await dialog.get_by_role("button", name="Save and retry").click()
    await expect(dialog).to_be_hidden()

    assert await dashboard.wl.jobs.wait(job, PATIENCE_SECONDS) == "7"


async def test_all_jobs_of_a_cause_are_retried(sign_in, dashboard):
    page = await sign_in(path="/dead")
    cause = page.get_by_role("listitem").filter(has_text="no funds")

    await cause.get_by_role("button", name="Retry all").click()
    await page.get_by_role("button", name="Retry 1 job").click()

    await expect(page.get_by_text("Queued again: 1 of 1 job.")).to_be_visible()


async def test_a_muted_cause_is_hidden_until_its_switch_is_on(sign_in, dashboard):
    page = await sign_in(path="/dead")
    cause = page.get_by_role("listitem").filter(has_text="the card is expired")
    await cause.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Mute…").click()
    await page.get_by_label("Reason").fill("the bank knows")
    await page.get_by_role("button", name="Mute", exact=True).click()
    await expect(cause).to_have_count(0)

    await page.get_by_role("switch", name="Muted").click()
    await expect(cause).to_contain_text("the bank knows")
    await cause.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Unmute").click()
    await page.get_by_role("switch", name="Muted").click()

    await expect(cause).to_be_visible()


async def test_a_cause_is_discarded_once_its_count_is_typed(sign_in, dashboard):
    await fail_cards(dashboard, "\u202eenin<img src=x onerror=alert(1)>")
    page = await sign_in(path="/dead")
    cause = page.get_by_role("listitem").filter(has_text="invalid literal")
    await cause.first.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Discard all…").click()
    confirm = page.get_by_role("button", name=re.compile("^Discard 1 job"))
    await expect(confirm).to_be_disabled()

    await page.get_by_label(re.compile("to go on")).fill("1")
    await confirm.click()

    await expect(page.get_by_text("Discarded 1 of 1 job.")).to_be_visible()
    await expect(cause).to_have_count(0)
