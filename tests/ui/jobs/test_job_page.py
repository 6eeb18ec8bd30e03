"""One job: watch it, stop it, learn why it waits, see what it waits for."""

import re

import pytest
from playwright.async_api import expect

from tests.support.wait import until
from windlass.core.jobs.states import JobState


@pytest.fixture
def folder(dashboard, tmp_path_factory):
    """A folder that a job of `film.encode` watches."""
    made = tmp_path_factory.mktemp("film")
    yield made
    (made / "end").touch()


@pytest.fixture
def film(dashboard, folder):
    """Starts a job that runs until its folder has a file `end`."""

    async def start():
        receipt = await dashboard.wl.enqueue("film.encode", {"folder": str(folder)}, tenant="acme")

        async def runs():
            return (await dashboard.wl.jobs.get(receipt.job_id)).state is JobState.RUNNING

        await until(runs)
        return str(receipt.job_id)

    return start


async def test_a_running_job_shows_its_progress_and_log_as_they_come(sign_in, film, folder):
    job = await film()
    page = await sign_in(path=f"/jobs/{job}")
    lines = page.get_by_role("region", name="Log lines")
    await expect(lines.get_by_text("ready", exact=True)).to_be_visible()

    for number in range(5):
        (folder / f"reel-{number}").touch()
        await expect(lines.get_by_text(f"file=reel-{number}")).to_be_visible()
    await expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "50")
    (folder / "end").touch()

    await expect(page.get_by_role("heading", level=1)).to_contain_text("Completed")
    await expect(page.get_by_role("link", name=re.compile("films.example"))).to_be_visible()


async def test_hostile_text_of_a_log_is_only_text(sign_in, film):
    job = await film()
    page = await sign_in(path=f"/jobs/{job}")

    lines = page.get_by_role("region", name="Log lines")

    await expect(lines.get_by_text("<script>document.title='hacked'</script>")).to_be_visible()
    await expect(lines).to_contain_text("⟨U+202E⟩gpj.exe")
    await expect(lines.get_by_text("ready", exact=True)).to_have_css("color", "rgb(19, 102, 71)")
    await expect(page).to_have_title(re.compile("film.encode"))


async def test_a_running_job_is_canceled(sign_in, film):
    job = await film()
    page = await sign_in(path=f"/jobs/{job[-8:]}")

    await page.get_by_role("button", name="Cancel").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text("Canceled")
    await expect(page).to_have_url(re.compile(job))


async def test_a_line_of_a_log_has_an_address(sign_in, film, folder):
    job = await film()
    (folder / "end").touch()
    page = await sign_in(path=f"/jobs/{job}#line-2")

    line = page.get_by_role("listitem").filter(has_text="file=end")

    await expect(line.locator(".bg-accent-soft")).to_be_visible()


async def test_a_paused_queue_is_resumed_from_the_job_that_waits(sign_in, dashboard):
    await dashboard.wl.queues.pause("cards", reason="<b>new</b> terminal")
    receipt = await dashboard.wl.enqueue("card.check", {"number": "7"}, tenant="acme")
    page = await sign_in(path=f"/jobs/{receipt.job_id}")
    await expect(page.get_by_text("<b>new</b> terminal")).to_be_visible()

    await page.get_by_role("button", name="Resume cards").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text("Completed")


async def test_a_disabled_definition_is_enabled_from_the_job_that_waits(sign_in, dashboard):
    await dashboard.wl.queues.pause("closed", reason="for good")
    receipt = await dashboard.wl.enqueue("film.cut", tenant="acme")
    await dashboard.wl.definitions.disable("film.cut")
    page = await sign_in(path=f"/jobs/{receipt.job_id}")
    await expect(page.get_by_text("Its definition film.cut is disabled.")).to_be_visible()

    await page.get_by_role("button", name="Enable film.cut").click()

    await expect(page.get_by_text(re.compile("Its queue closed was paused"))).to_be_visible()


async def test_dependencies_are_a_graph_and_a_list(sign_in, dashboard):
    first = await dashboard.wl.enqueue("film.cut", {"part": 1}, tenant="acme", hold=True)
    second = await dashboard.wl.enqueue("film.cut", {"part": 2}, tenant="acme", after=[first])
    third = await dashboard.wl.enqueue("film.cut", {"part": 3}, tenant="acme", after=[second])
    page = await sign_in(path=f"/jobs/{third.job_id}")
    graph = page.get_by_role("region", name=re.compile("Graph of dependencies"))
    await expect(graph.get_by_role("link")).to_have_count(3)
    await graph.press("0")

    await page.get_by_role("button", name="List").click()
    listed = page.get_by_role("list", name="Dependencies as a list")
    await expect(listed.locator("li li li")).to_have_count(1)
    await listed.get_by_role("link", name=str(first.job_id)[-8:]).click()

    await expect(page).to_have_url(re.compile(str(first.job_id)))


async def test_secrets_are_revealed_only_with_a_reason(sign_in, dashboard):
    receipt = await dashboard.wl.enqueue(
        "card.check", {"number": "7", "token": "s3cr3t-value"}, tenant="acme"
    )
    page = await sign_in(path=f"/jobs/{receipt.job_id}")
    payload = page.get_by_label("Payload as JSON")
    await expect(payload).to_contain_text("•••")
    await page.get_by_role("button", name="Reveal •••").click()

    await page.get_by_role("button", name="Reveal", exact=True).click()
    await expect(payload).to_contain_text("•••")
    await page.get_by_label("Reason").fill("ticket 12")
    await page.get_by_role("button", name="Reveal", exact=True).click()

    await expect(payload).to_contain_text("s3cr3t-value")
