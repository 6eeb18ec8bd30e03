"""Bar charts as SVG, legible on light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LABELS, BAR, GAP, TOP = 720, 300, 20, 10, 44
_ROOM = WIDTH - LABELS - 90

_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .back { fill: #ffffff } .title { font-weight: 600; font-size: 14px }
  .ours { fill: #0a7d6c } .other { fill: #8c959f } .line { stroke: #57606a; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .ours { fill: #2fb8a3 } .other { fill: #6e7681 } .line { stroke: #9198a1 }
  }
""".strip("\n")


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    ours: bool = True


def chart(title: str, bars: Sequence[Bar], *, line: float | None = None, unit: str = "") -> str:
    """Horizontal bars from zero, each with its figure; `line` marks a value across all."""
    longest = max([bar.value for bar in bars] + ([line] if line else []))
    height = TOP + len(bars) * (BAR + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title, quote=True)}">',
        f"<style>\n{_STYLE}\n</style>",
        f'<rect class="back" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="8" y="18">{escape(title)}</text>',
    ]
    for place, bar in enumerate(bars):
        y = TOP + place * (BAR + GAP) - GAP
        length = max(1.0, _ROOM * bar.value / longest)
        kind = "ours" if bar.ours else "other"
        parts += [
            f'<text x="{LABELS - 8}" y="{y + 15}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect class="{kind}" x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR}" rx="3"/>',
            f'<text x="{LABELS + length + 6:.1f}" y="{y + 15}">{bar.value:.2f}{unit}</text>',
        ]
    if line:
        x = LABELS + _ROOM * line / longest
        parts.append(
            f'<line class="line" x1="{x:.1f}" y1="{TOP - GAP - 4}" x2="{x:.1f}" y2="{height}"/>'
        )
    return "\n".join([*parts, "</svg>", ""])
