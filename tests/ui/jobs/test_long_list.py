"""Ten thousand jobs: the list stays small and still, and all of them are acted on at once."""

import re

from playwright.async_api import expect

from tests.support.wait import until
from windlass.ids import new_job_id

MANY = 10_000
#: So many that a server is not through with them before somebody can press Stop.
HARDLY_DONE = 40_000
MOST_ROWS = 80

WATCH_SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""


async def store_letters(wl, tenant, count):
    """Jobs that wait in a paused queue."""
    letter = await wl.make("mail.letter", {"to": "Ada"}, tenant=tenant)
    await wl.enqueue_many([letter._replace(id=new_job_id()) for _ in range(count)])


def rows(page):
    return page.get_by_role("table", name="Jobs").get_by_role("row")


async def test_ten_thousand_jobs_keep_few_rows_and_shift_nothing(sign_in, page, dashboard):
    await store_letters(dashboard.wl, "globex", MANY)
    await page.add_init_script(WATCH_SHIFTS)
    await sign_in("superadmin", "/jobs?q=queue:letters+tenant:globex")
    await expect(rows(page).nth(1)).to_be_visible()
    scroller = page.get_by_role("group", name="Jobs", exact=True)

    counts = []

    async def scrolled_to_the_end():
        await scroller.evaluate("(element) => element.scrollTo(0, element.scrollHeight)")
        counts.append(await rows(page).count())
        return f"{MANY:,} jobs" in await page.get_by_role("main").inner_text()

    await until(scrolled_to_the_end, within=240)

    assert max(counts) <= MOST_ROWS
    assert await rows(page).count() <= MOST_ROWS
    assert await page.evaluate("window.shifted") <= 0.05


async def test_all_that_match_are_canceled_until_stop_and_undone(sign_in, dashboard):
    wl, found = dashboard.wl, "queue:letters tenant:initech"
    await wl.tenants.create("initech")
    await store_letters(wl, "initech", HARDLY_DONE)
    page = await sign_in("superadmin", "/jobs?q=queue:letters+tenant:initech")
    await page.get_by_label("Select the jobs shown").click()
    await page.get_by_role("button", name=f"Select all {HARDLY_DONE:,} matching").click()
    await page.get_by_role("button", name="Cancel", exact=True).click()

    begin = page.get_by_role("button", name=f"Cancel {HARDLY_DONE:,} jobs")
    await expect(begin).to_be_disabled()
    await page.get_by_label(f"Type {HARDLY_DONE} to go on").fill(str(HARDLY_DONE))
    await begin.click()
    await page.get_by_role("button", name="Stop").click()

    await expect(page.get_by_role("dialog")).to_contain_text("Stopped:")
    said = await page.get_by_role("dialog").inner_text()
    canceled = int(re.search(r"Stopped:\s*([\d,]+) canceled", said)[1].replace(",", ""))
    assert 0 < canceled < HARDLY_DONE

    await page.get_by_role("button", name="Undo: queue them again").click()
    await expect(page.get_by_role("dialog")).to_contain_text(f"Completed: {canceled:,} retried")
    assert not (await wl.jobs.list(f"{found} state:canceled", limit=1)).jobs
