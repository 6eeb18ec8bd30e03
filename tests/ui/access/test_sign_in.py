"""Signing in and out, and what a wrong password is told."""

from playwright.async_api import expect

from tests.ui.installation import PASSWORD, USERS


async def test_a_wrong_password_is_told_and_nothing_is_lost(page):
    await page.goto("/sign-in")
    await page.get_by_label("Name").fill(USERS["user"])
    await page.get_by_label("Password").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()

    await expect(page.get_by_role("alert")).to_contain_text("WL")
    await expect(page.get_by_label("Name")).to_have_value(USERS["user"])


async def test_who_signs_out_is_asked_to_sign_in(page):
    await page.goto("/")
    await page.get_by_label("Name").fill(USERS["tenant_admin"])
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("button", name="Account").click()
    await page.get_by_role("menuitem", name="Sign out").click()

    await expect(page.get_by_role("heading", name="Sign in to Windlass")).to_be_visible()
    await page.goto("/jobs")
    await expect(page.get_by_role("heading", name="Sign in to Windlass")).to_be_visible()
