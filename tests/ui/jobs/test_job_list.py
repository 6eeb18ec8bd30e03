"""The list of jobs: filter by typing, cancel with Undo, retry, bulk retry, and Back."""

import re

from playwright.async_api import expect


def rows(page):
    """Rows of jobs, without that of the column names."""
    return page.get_by_role("table", name="Jobs").get_by_role("row").filter(has=page.locator("a"))


async def test_a_filter_is_typed_with_suggestions_and_removed_by_its_chip(sign_in):
    page = await sign_in("superadmin", "/jobs")
    box = page.get_by_label("Filter jobs")

    await box.fill("defin")
    await page.get_by_role("option", name=re.compile("^definition:")).click()
    await box.press_sequentially("payment")
    await page.get_by_role("option", name="definition:payment.charge").click()

    await expect(page).to_have_url(re.compile(r"q=definition%3Apayment\.charge"))
    await expect(rows(page)).to_have_count(3)
    await page.get_by_role("button", name="Remove definition:payment.charge").click()
    await expect(page).not_to_have_url(re.compile("q="))


async def test_a_refused_filter_tells_why_at_the_box(sign_in):
    page = await sign_in("superadmin", "/jobs")

    await page.get_by_label("Filter jobs").fill("stat:running")
    await page.get_by_label("Filter jobs").press("Enter")

    await expect(page.get_by_role("alert")).to_contain_text("There is no such field.")
    await expect(page.get_by_role("alert")).to_contain_text("Did you mean state?")


async def test_a_waiting_job_is_canceled_from_its_row_and_undone(sign_in, dashboard):
    receipt = await dashboard.wl.enqueue("mail.letter", {"to": "Hedy"}, tenant="globex")
    page = await sign_in("superadmin", f"/jobs?q=id:{receipt.job_id}")

    await page.get_by_role("button", name=re.compile("Actions on mail.letter")).click()
    await page.get_by_role("menuitem", name="Cancel").click()
    await expect(rows(page).first).to_contain_text("Canceled")
    await page.get_by_role("button", name="Undo").click()

    await expect(rows(page).first).to_contain_text("Queued")
    assert (await dashboard.wl.jobs.get(receipt.job_id)).state == "queued"


async def test_a_failed_job_is_retried_by_a_key(sign_in, dashboard):
    page = await sign_in("superadmin", "/jobs?q=definition:payment.charge")
    await expect(rows(page).first).to_contain_text("Dead letter")

    await page.keyboard.press("j")
    await expect(page).to_have_url(re.compile("job="))
    await page.keyboard.press("r")

    await expect(page.get_by_text(re.compile("Queued again: payment.charge"))).to_be_visible()


async def test_failed_jobs_are_retried_together_and_the_operation_is_listed(sign_in):
    page = await sign_in("superadmin", "/jobs?q=definition:payment.charge")
    await expect(rows(page)).to_have_count(3)

    await page.get_by_label("Select the jobs shown").click()
    await page.get_by_role("button", name="Retry", exact=True).click()
    await (
        page.get_by_role("dialog")
        .get_by_role("button", name=re.compile("^Retry [123] job"))
        .click()
    )
    await expect(page.get_by_role("dialog")).to_contain_text(re.compile("Completed: [123] retried"))
    await page.get_by_role("link", name="Open the operation").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(
        re.compile("Retry [123] job")
    )
    await page.get_by_role("link", name="All operations").click()
    await expect(page.get_by_role("table", name="Operations")).to_contain_text("Completed")


async def test_back_returns_to_the_same_filter_and_row(sign_in):
    page = await sign_in("superadmin", "/jobs?q=definition:hello")
    link = rows(page).nth(1).get_by_role("link")
    address = await link.get_attribute("href")
    await link.click()
    await expect(page).to_have_url(re.compile(f"{address}$"))

    await page.go_back()

    await expect(page).to_have_url(re.compile(r"q=definition(:|%3A)hello.*job="))
    await expect(rows(page).nth(1)).to_have_attribute("data-current", "true")


async def test_a_user_sees_own_jobs_and_no_bulk_actions(sign_in):
    page = await sign_in("user", "/jobs")

    await expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    await expect(page.get_by_label("Select the jobs shown")).to_have_count(0)
    await expect(page.get_by_role("link", name="Operations")).to_have_count(0)


async def test_logs_are_searched_and_lead_to_their_line(sign_in):
    page = await sign_in("superadmin", "/logs")

    await page.get_by_label("Words in the line").fill("no name")
    await page.get_by_label("Least level").select_option("warn")
    line = page.get_by_role("link", name="a row has no name")
    await expect(line).to_be_visible()
    await expect(page.get_by_role("table", name="Log lines").get_by_role("link")).to_have_count(1)
    await line.click()

    await expect(page).to_have_url(re.compile(r"/jobs/[\w-]+#line-\d+$"))
    await expect(page.get_by_role("heading", level=1)).to_contain_text("rows.import")
