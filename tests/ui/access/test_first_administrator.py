"""A new installation: the links that servers print lead into the dashboard."""

import re

import pytest
from playwright.async_api import expect

from tests.support.processes.shell import JOBS, Shell

PASSWORD = "correct horse battery staple"


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    shell.write("jobs.py", JOBS)
    yield shell
    shell.close()


def link_of(started, pattern):
    """The address and the path of a printed link."""
    said = started.sees(pattern)
    return re.search(rf"(http://127\.0\.0\.1:\d+)({pattern})", said).groups()


async def test_the_first_administrator_chooses_name_and_password(shell, new_page):
    url, path = link_of(shell.start("serve", "jobs.py", "--all", "--port", "0"), r"/setup\?key=\S+")
    page = await new_page(url)

    await page.goto(path)
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_role("navigation").first).to_be_visible()

    assert "key=" not in page.url
    late = await new_page(url)
    await late.goto(path)
    await expect(late.get_by_text("There is an administrator already")).to_be_visible()


async def test_the_link_of_windlass_dev_signs_in(shell, new_page):
    url, path = link_of(shell.start("dev", "jobs.py", "--port", "19377"), r"/\?key=\S+")
    page = await new_page(url)

    await page.goto(path)

    await expect(page.get_by_role("navigation").first).to_be_visible()
    assert "key=" not in page.url
