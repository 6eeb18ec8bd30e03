"""Code that cannot be imported, under `windlass dev`: every screen says so until it is mended."""

import re

import pytest
from playwright.async_api import expect

from tests.support.processes.shell import JOBS, Shell
from tests.ui.access.test_first_administrator import link_of


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.close()


async def test_an_error_of_the_first_import_is_shown_until_it_is_mended(shell, new_page):
    shell.write("jobs.py", "import nothing_of_this_name\n")
    url, path = link_of(shell.start("dev", "jobs.py", "--port", "19477"), r"/\?key=\S+")
    page = await new_page(url)
    await page.goto(path)

    message = page.get_by_text("The code saved last cannot be imported")
    await expect(message).to_be_visible()
    await page.get_by_text("Traceback", exact=True).click()
    await expect(page.get_by_text("import nothing_of_this_name")).to_be_visible()
    await expect(page).to_have_title(re.compile(r"^\[dev\] Overview · Windlass$"))
    await page.get_by_role("link", name="Settings").first.click()
    await expect(message).to_be_visible()
    shell.write("jobs.py", JOBS)

    await expect(message).to_be_hidden()
    shell.write("jobs.py", f"{JOBS}\nraise RuntimeError('not yet')\n")
    await expect(message).to_be_visible()
    shell.write("jobs.py", JOBS)
    await expect(message).to_be_hidden()
