"""The first look: who is not signed in is asked to; who is sees how the installation does."""

import re

import pytest
from playwright.async_api import expect

from tests.ui.installation import PASSWORD, USERS

VERDICT = re.compile("Healthy|behind|wait|dead letter", re.IGNORECASE)


async def test_a_stranger_signs_in_by_name_and_password(page):
    await page.goto("/")
    await page.get_by_label("Name").fill(USERS["superadmin"])
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()

    await expect(page.get_by_role("navigation").first).to_be_visible()


@pytest.mark.parametrize("role", ["superadmin", "tenant_admin", "user"])
async def test_each_role_gets_an_overview(sign_in, role):
    page = await sign_in(role)

    await expect(page.get_by_role("main")).to_be_visible()
    await expect(page).to_have_title(re.compile("Windlass"))


async def test_an_overview_begins_with_a_verdict(sign_in):
    page = await sign_in()

    await expect(page.get_by_role("main")).to_contain_text(VERDICT)


async def test_an_address_within_the_dashboard_can_be_opened(sign_in):
    page = await sign_in(path="/queues")

    await expect(page).to_have_title(re.compile("Queues"))
