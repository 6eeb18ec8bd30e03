"""axe finds nothing wrong on any screen, in any theme; nothing scrolls sideways on a narrow page."""

import pytest
from playwright.async_api import expect

from tests.layout.repository import ROOT
from tests.ui.craft.screens import DETAILS, SCREENS, SIGNED_OUT

AXE = ROOT / "ui/node_modules/axe-core/axe.min.js"
#: Name -> the theme that is chosen, and what the system prefers.
THEMES = {"light": ("light", "light"), "dark": ("dark", "dark"), "contrast": ("contrast", "dark")}


async def violations(page):
    """What axe finds on the page as it is, each with its first place."""
    await page.evaluate(AXE.read_text("utf-8"))
    found = await page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['nodes'][0]['html']} {each['nodes'][0].get('failureSummary', '')}"
        for each in found["violations"]
    ]


async def choose_theme(page, theme):
    chosen, system = THEMES[theme]
    await page.emulate_media(color_scheme=system)
    await page.add_init_script(
        f"localStorage.setItem('windlass.preferences', JSON.stringify({{theme: '{chosen}'}}))"
    )


async def show(page, path):
    """Open a screen and wait until all of it has been read."""
    await page.goto(path)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.get_by_label("Loading")).to_have_count(0)


async def sideways(page):
    """How far the page can be scrolled to the side, in pixels."""
    return await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("theme", THEMES)
async def test_axe_finds_nothing_on_any_screen(sign_in, dashboard, theme):
    page = await sign_in()
    await choose_theme(page, theme)

    found = {}
    for path in (*SCREENS, *[await look_up(dashboard.wl) for look_up in DETAILS.values()]):
        await show(page, path)
        if wrong := await violations(page):
            found[path] = wrong
    assert found == {}


@pytest.mark.parametrize("theme", THEMES)
async def test_axe_finds_nothing_before_one_is_signed_in(page, theme):
    await choose_theme(page, theme)

    for path in SIGNED_OUT:
        await show(page, path)
        assert await violations(page) == [], path


async def test_no_screen_scrolls_sideways_at_320_pixels(sign_in, dashboard):
    page = await sign_in()
    await page.set_viewport_size({"width": 320, "height": 640})

    wide = {}
    for path in (*SCREENS, *[await look_up(dashboard.wl) for look_up in DETAILS.values()]):
        await show(page, path)
        if (pixels := await sideways(page)) > 0:
            wide[path] = pixels
    assert wide == {}
