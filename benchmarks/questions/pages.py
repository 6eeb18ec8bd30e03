"""The dashboard in a slow browser: a quarter of this machine's speed, 10 Mbit/s, 40 ms away."""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Page, async_playwright, expect

from benchmarks.findings import Finding, alone
from benchmarks.measure import Figures
from benchmarks.stage import Stage
from tests.databases.packages import CHROMIUM, program
from tests.layout.repository import ROOT
from tests.ui.installation import Installation, installed

QUESTION = "How soon does a screen of the dashboard appear, and a change on it?"
SCREENS = {"Overview": "/", "Jobs": "/jobs", "Dead letter": "/dead"}
_CHANGES = 20
_SLOWER = 4
_LINK = {
    "offline": False,
    "latency": 40,
    "downloadThroughput": 10_000_000 / 8,
    "uploadThroughput": 10_000_000 / 8,
}
_PAINT = """new Promise(resolve => new PerformanceObserver(list =>
  resolve(list.getEntries().at(-1).startTime)).observe({type: "largest-contentful-paint", buffered: true}))"""
_CHANGE = "a paused queue shown, p95"


def ask(stage: Stage) -> Sequence[Finding]:
    subprocess.run(["make", "ui"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    changes = 2 if stage.toy else _CHANGES
    figures = stage.alternate({"Windlass": lambda: asyncio.run(_once(changes))})["Windlass"]
    paints = [f"{name}, largest paint" for name in SCREENS]
    return [alone(each, figures, each, "ms") for each in (*paints, _CHANGE)]


async def _once(changes: int) -> Figures:
    with TemporaryDirectory() as folder:
        async with (
            installed(f"sqlite:///{folder}/pages.db", Path(folder)) as installation,
            _slow_page(installation) as page,
        ):
            figures = {
                f"{name}, largest paint": await _paint(page, installation.url + path)
                for name, path in SCREENS.items()
            }
            return {**figures, _CHANGE: await _changes(page, installation, changes)}


@asynccontextmanager
async def _slow_page(installation: Installation) -> AsyncIterator[Page]:
    """A page of a signed-in superadmin, without a cache."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program(CHROMIUM, "chromium"), args=["--headless", "--no-sandbox"]
        )
        context = await browser.new_context()
        await context.add_cookies(
            [
                {
                    "name": "windlass_session",
                    "value": installation.sessions["superadmin"],
                    "url": installation.url,
                }
            ]
        )
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        await devtools.send("Network.enable")
        await devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        await devtools.send("Network.emulateNetworkConditions", _LINK)
        await devtools.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
        yield page
        await browser.close()


async def _paint(page: Page, address: str) -> float:
    await page.goto(address)
    await page.get_by_role("heading", level=1).wait_for()
    await expect(page.get_by_label("Loading")).to_have_count(0)
    return float(await page.evaluate(_PAINT))


async def _changes(page: Page, installation: Installation, count: int) -> float:
    """Milliseconds from a committed pause of a queue until the screen shows it."""
    await page.goto(f"{installation.url}/queues")
    row = page.get_by_role("row", name="payments")
    await page.get_by_role("button", name="Live").wait_for()
    took = []
    for number in range(count):
        reason = f"reason {number}"
        await installation.wl.queues.pause("payments", reason=reason)
        began = time.monotonic()
        await row.get_by_text(reason).wait_for()
        took.append((time.monotonic() - began) * 1000)
        await installation.wl.queues.resume("payments")
        await row.get_by_text(reason).wait_for(state="detached")
    return sorted(took)[int(0.95 * (count - 1))]
