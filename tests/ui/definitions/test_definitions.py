"""What a person does with definitions: run one by its form, change its limits, disable it."""

import re

from playwright.async_api import expect


async def test_a_job_is_enqueued_by_form_once_its_errors_are_mended(sign_in, dashboard):
    page = await sign_in(path="/definitions/hello")
    await page.get_by_role("button", name="Run…").click()
    dialog = page.get_by_role("dialog")
    name, times = dialog.get_by_label("Name"), dialog.get_by_label("Times")

    await times.fill("many")
    await expect(times).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_role("button", name="Run", exact=True).click()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await expect(dialog.get_by_text("required")).to_be_visible()

    await name.fill("Barbara")
    await times.fill("2")
    await expect(times).not_to_have_attribute("aria-invalid", "true")
    await dialog.get_by_role("button", name="Run", exact=True).click()
    link = dialog.get_by_role("link", name=re.compile("Open job"))
    address = await link.get_attribute("href")

    assert address is not None
    result = await dashboard.wl.jobs.wait(address.rpartition("/")[2], 60)
    assert result == "Hello, Barbara!Hello, Barbara!"
    await link.click()
    await expect(page).to_have_url(re.compile("/jobs/"))


async def test_form_and_json_are_one_payload_and_it_can_be_copied(sign_in):
    page = await sign_in(path="/definitions/hello")
    await page.get_by_role("button", name="Run…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Ada")
    await dialog.get_by_role("tab", name="JSON").click()

    await expect(dialog.get_by_label("Payload", exact=True)).to_have_value(re.compile("Ada"))
    await dialog.get_by_label("Payload", exact=True).fill('{"name": "Grace"')
    await expect(dialog.get_by_text("This is not JSON")).to_be_visible()
    await dialog.get_by_label("Payload", exact=True).fill('{"name": "Grace"}')
    await dialog.get_by_role("tab", name="Form").click()
    await expect(dialog.get_by_label("Name")).to_have_value("Grace")

    await dialog.get_by_text("Copy as Python").click()
    await dialog.get_by_role("tab", name="Command line").click()
    await expect(dialog.get_by_text("windlass enqueue hello name=Grace")).to_be_visible()


async def test_a_disabled_definition_refuses_jobs_until_it_is_enabled(sign_in, dashboard):
    page = await sign_in(path="/definitions/mail.letter")
    switch = page.get_by_role("switch", name="Enabled")
    await switch.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("1 queued job waits")).to_be_visible()
    await dialog.get_by_role("button", name="Disable").click()

    await expect(page.get_by_role("button", name="Run…")).to_be_disabled()
    refused = await page.request.post(
        f"{dashboard.url}/api/v1/jobs",
        data={"definition": "mail.letter", "payload": {"to": "Ada"}},
        headers={"Origin": dashboard.url},
    )
    assert (await refused.json())["code"] == "WL2108"
    await switch.click()
    await expect(page.get_by_role("button", name="Run…")).to_be_enabled()


async def test_an_edited_limit_stands_beside_the_codes_and_is_reset(sign_in, dashboard):
    page = await sign_in(path="/definitions/order.pack")
    await page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("At once", exact=True).fill("-1")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_label("At once", exact=True)).to_have_attribute(
        "aria-invalid", "true"
    )
    await dialog.get_by_label("At once", exact=True).fill("4")
    await dialog.get_by_role("button", name="Save").click()

    await expect(page.get_by_text("Edited here; code says none")).to_be_visible()
    assert await _limit(page, dashboard) == 4
    await page.get_by_role("button", name="Reset At once to code").click()
    await expect(page.get_by_text("Edited here; code says none")).to_be_hidden()
    assert await _limit(page, dashboard) is None


async def _limit(page, dashboard):
    response = await page.request.get(f"{dashboard.url}/api/v1/definitions/order.pack")
    return (await response.json())["max_concurrency"]


async def test_who_only_has_jobs_of_their_own_changes_no_definition(sign_in):
    page = await sign_in("user", "/definitions")

    await expect(page.get_by_role("link", name="hello")).to_be_visible()
    await expect(page.get_by_role("switch", name="hello enabled")).to_be_hidden()
