"""Members: an invitation is accepted, and who is of another tenant sees and reaches nothing."""

import re

from playwright.async_api import expect

from tests.ui.installation import PASSWORD


async def test_a_member_is_invited_and_signs_in_by_the_link(sign_in, browser, dashboard):
    page = await sign_in("superadmin", "/tenants/globex")
    await page.get_by_role("button", name="Invite").click()
    await page.get_by_label("Name or mail address").fill("barbara")
    await page.get_by_label("Role").select_option("tenant_admin")
    await page.get_by_role("button", name="Create invitation").click()
    link = await page.get_by_text(re.compile(r"/invitation\?link=")).inner_text()
    await page.get_by_role("button", name="I have it").click()
    await expect(page.get_by_role("row", name=re.compile("barbara"))).to_contain_text("invited")

    context = await browser.new_context()
    invited = await context.new_page()
    await invited.goto(link)
    await invited.get_by_label("New password").fill(PASSWORD)
    await invited.get_by_role("button", name="Set a password and accept").click()
    await expect(invited.get_by_role("heading", name="Overview")).to_be_visible()

    # Of another tenant there is nothing to see, by address or by lens.
    await expect(invited.get_by_label("Tenant")).to_have_count(0)
    await invited.goto(f"{dashboard.url}/tenants/acme")
    await expect(
        invited.get_by_text("WL2103").or_(invited.get_by_role("alert")).first
    ).to_be_visible()
    jobs = await invited.request.get(f"{dashboard.url}/api/v1/jobs?tenant=acme")
    assert jobs.status == 404
    await context.close()


async def test_a_user_is_offered_only_what_their_role_has(sign_in):
    page = await sign_in("user")

    screens = page.get_by_role("navigation", name="Screens")
    await expect(screens.get_by_role("link", name="Jobs")).to_be_visible()
    for hidden in ("Workers", "Queues", "Tenants", "Audit", "Fleet", "Dead letter"):
        await expect(screens.get_by_role("link", name=hidden)).to_have_count(0)


async def test_a_token_shows_its_secret_once_and_is_revoked(sign_in):
    page = await sign_in("tenant_admin", "/tenants/acme")
    await page.get_by_role("button", name="New token").click()
    await page.get_by_label("Name").fill("shop backend")
    await page.get_by_role("button", name="Create token").click()
    await expect(page.get_by_text(re.compile(r"^wl_"))).to_be_visible()
    await page.get_by_role("button", name="I have it").click()

    row = page.get_by_role("row", name=re.compile("shop backend"))
    await row.get_by_role("button", name="Revoke").click()
    await page.get_by_role("button", name="Revoke token").click()

    await expect(row).to_contain_text("revoked")
