"""An installation with one tenant: no screen speaks of tenants, and another one can be created."""

import re

import pytest
from playwright.async_api import expect

from tests.support.processes.shell import JOBS, Shell
from tests.ui.access.test_first_administrator import link_of

#: Screens that tell of the installation itself.
_OF_TENANTS = ("/tenants", "/settings")
SPOKEN = re.compile("tenant", re.IGNORECASE)


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.close()


async def test_no_screen_speaks_of_tenants_until_there_are_several(shell, new_page):
    shell.write("jobs.py", JOBS)
    url, path = link_of(shell.start("dev", "jobs.py", "--port", "19577"), r"/\?key=\S+")
    shell.ok("enqueue", "hello", "name=Ada", "--wait")
    page = await new_page(url)
    await page.goto(path)
    links = page.get_by_role("navigation", name="Screens").get_by_role("link")
    await expect(links.first).to_be_visible()
    found = [await link.get_attribute("href") for link in await links.all()]

    for screen in (each for each in found if not each.endswith(_OF_TENANTS)):
        await page.goto(f"{url}{screen}")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.locator("[aria-busy=true]")).to_have_count(0)
        await expect(page.locator("body")).not_to_contain_text(SPOKEN)
    assert not [each for each in found if each.endswith("/fleet")]
    await page.get_by_role("link", name="People").first.click()
    await page.get_by_role("button", name="New tenant").click()
    await page.get_by_label("Id").fill("acme")
    await page.get_by_role("dialog").get_by_role("button", name="Create tenant").click()
    await page.goto(f"{url}/jobs")

    await expect(page.get_by_label("Tenant").first).to_be_visible()
    await expect(page.get_by_role("link", name="Fleet").first).to_be_visible()
