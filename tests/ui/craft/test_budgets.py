"""Sizes of the built bundle: what the first screen needs, and what each further screen adds."""

import gzip
import json
import re
from pathlib import Path

from tests.layout.repository import ROOT

DIST = ROOT / "ui/dist"
KB = 1024
#: Static imports of a built module, and the files it preloads for a lazy one.
_STATIC = re.compile(r'(?:import|from)\s*"\./([\w.-]+\.js)"')
_LAZY = re.compile(r'import\("\./([\w.-]+\.js)"\)')


def compressed(name):
    return len(gzip.compress((DIST / "assets" / name).read_bytes(), 9))


def source(name):
    return (DIST / "assets" / name).read_text("utf-8")


def needed_by(name, seen=None):
    """A module and all that it imports at once."""
    seen = set() if seen is None else seen
    if name not in seen:
        seen.add(name)
        for each in _STATIC.findall(source(name)):
            needed_by(each, seen)
    return seen


def entry():
    page = (DIST / "index.html").read_text("utf-8")
    found = re.search(r'src="\./assets/([\w.-]+\.js)"', page)
    assert found is not None
    return found[1]


def module_of(stem):
    [found] = DIST.glob(f"assets/{stem}-*.js")
    return found.name


def test_the_first_screen_is_within_its_budget(bundle):
    first = (
        needed_by(entry()) | needed_by(module_of("overview")) | needed_by(module_of("chart_canvas"))
    )
    styles = [each.name for each in DIST.glob("assets/*.css")]

    scripts_kb = sum(map(compressed, first)) / KB
    styles_kb = sum(map(compressed, styles)) / KB
    assert scripts_kb <= 85, json.dumps({each: compressed(each) for each in sorted(first)})
    assert styles_kb <= 20
    assert scripts_kb + styles_kb <= 120


def test_each_lazy_screen_is_within_its_budget(bundle):
    first = needed_by(entry())
    modules = {each.name for each in DIST.glob("assets/*.js")}

    over = {
        name: added
        for name in modules - first
        if (added := sum(map(compressed, needed_by(name) - first))) > 40 * KB
    }
    assert over == {}


def test_the_bundle_asks_no_other_host(bundle):
    files = [each for each in DIST.rglob("*") if each.suffix in {".js", ".css", ".html"}]
    addresses = {
        address
        for file in files
        for address in re.findall(
            r"(?:src|href|url)\s*[=(]\s*[\"']?(https?://[^\"')\s]+)", file.read_text("utf-8")
        )
    }
    assert addresses == set()


def test_no_file_of_the_build_is_committed():
    ignored = Path(ROOT / "ui/.gitignore").read_text("utf-8").split()

    assert "dist/" in ignored
