"""States are told apart by glyph and label, and their colours can be seen on every surface."""

import pytest

from windlass.core.jobs.state_icons import STATE_ICONS
from windlass.core.jobs.states import JobState, View

#: The surfaces of a theme.
SURFACES = {"light": ("#ffffff", "#f5f6f8"), "dark": ("#0f1216", "#171b21")}


def luminance(color):
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """The contrast of two colours, as WCAG computes it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_each_state_and_view_has_a_glyph_and_a_label_of_its_own():
    known = {*map(str, JobState), *map(str, View)} - {"pending"}  # shown as waiting

    assert STATE_ICONS.keys() == known
    for told in ("glyph", "label", "light", "dark"):
        assert len({getattr(icon, told) for icon in STATE_ICONS.values()}) == len(known)


@pytest.mark.parametrize("theme", SURFACES)
@pytest.mark.parametrize("name", STATE_ICONS)
def test_the_color_of_a_state_stands_out_on_each_surface(name, theme):
    color = getattr(STATE_ICONS[name], theme)

    assert min(contrast(color, surface) for surface in SURFACES[theme]) >= 3
