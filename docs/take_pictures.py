"""Takes the pictures of the dashboard in `docs/pictures`, from the demo's data.

Run it after `make demo` worked once: `.venv/bin/python docs/take_pictures.py`. It starts a demo of its
own in a temporary folder and lets it live for some minutes, so that the charts have something to show.
"""

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright

PICTURES = Path(__file__).parent / "pictures"
#: Name of a picture -> the screen's path, or a text to click on the screen before it.
SCREENS: tuple[tuple[str, str, str | None], ...] = (
    ("overview", "/", None),
    ("jobs", "/jobs", None),
    ("job", "/jobs?q=definition:payment.charge+state:dead_letter", "payment.charge"),
    ("dead-letter", "/dead", None),
    ("definitions", "/definitions", None),
    ("schedules", "/schedules", None),
    ("events", "/events", None),
    ("workers", "/workers", None),
    ("queues", "/queues", None),
    ("logs", "/logs", None),
    ("fleet", "/fleet", None),
)
_SIZE = {"width": 1280, "height": 800}
_MINUTES = float(os.environ.get("MINUTES", "4"))
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        demo = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("windlass")),
            "dev", "--demo", "--no-reload",
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        try:
            address = await _address(demo)
            # The pipe is read on, so that the demo never waits for it.
            reading = asyncio.create_task(_drain(demo))
            await asyncio.sleep(60 * _MINUTES)
            await _take(address)
            reading.cancel()
        finally:
            if demo.returncode is None:
                demo.terminate()
            await demo.wait()


async def _address(demo: asyncio.subprocess.Process) -> str:
    """The address of the dashboard, with the key that signs in."""
    assert demo.stdout is not None
    while line := await demo.stdout.readline():
        if found := re.search(rb"http://127\.0\.0\.1:\d+/\?key=\S+", line):
            return found[0].decode()
    raise SystemExit("the demo ended before it named its dashboard")


async def _drain(demo: asyncio.subprocess.Process) -> None:
    assert demo.stdout is not None
    while await demo.stdout.read(65_536):
        pass


async def _take(address: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=list(_FLAGS)
        )
        page = await browser.new_page(viewport=_SIZE, reduced_motion="reduce")
        await page.goto(address)
        await page.get_by_role("heading", name="Overview").wait_for()
        for theme in ("light", "dark"):
            await _take_theme(page, theme, address.partition("/?key=")[0])
        await browser.close()


async def _take_theme(page: Page, theme: str, base: str) -> None:
    await page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for name, path, click in SCREENS:
        await page.goto(base + path)
        await page.get_by_role("heading", level=1).wait_for()
        if click is not None:
            await page.get_by_role("link", name=click).first.click()
            await page.get_by_role("heading", level=1).wait_for()
        await page.get_by_label("Loading").first.wait_for(state="detached")
        await page.wait_for_timeout(1500)  # charts are drawn
        await page.screenshot(path=PICTURES / f"{name}-{theme}.png")


if __name__ == "__main__":
    asyncio.run(main())
