"""Every path that the docs name exists in the repository."""

import re
from fnmatch import fnmatchcase

import pytest

from tests.layout.repository import ROOT, folders, name_of

PAGES = sorted(
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    if page.parent.name != "reference"
)
_TOPS = ("src", "tests", "docs", "benchmarks", "examples")
#: Folders of `src/windlass`, and so the start of a path that is spelled from there.
_LAYERS = (
    *("api", "app", "cli", "core", "engine", "errors", "settings", "storage", "upkeep", "worker"),
    *("testing", "integrations", "library"),
)
_CODE = re.compile(r"`([^`\s]+)`")
_FENCE = re.compile(r"```.*?```", re.DOTALL)
#: Written by a run, and not kept in the repository.
_WRITTEN = {"benchmarks/results", "tests/chaos/results"}


def _named(text: str) -> set[str]:
    """What looks like a path of the repository: below a folder of it, or a file of code."""
    spans = _CODE.findall(_FENCE.sub("", text))
    paths = {span.rstrip("/") for span in spans if not span.startswith(("/", "-", "."))}
    return {
        path
        for path in paths
        if re.search(r"\w\.(py|sql|md|svg|yml)$", path) or path.split("/")[0] in (*_TOPS, *_LAYERS)
    } - {path for path in paths if "/" not in path and "." not in path}


@pytest.fixture(scope="module")
def known():
    """Every file and folder, from the root of the repository."""
    return [
        f"{folder}/{entry}"
        for top in _TOPS
        for folder, entries in folders(top)
        for entry in entries
    ]


def _exists(path: str, known: list[str]) -> bool:
    pattern = re.sub("<[^>]*>", "*", path)
    return (ROOT / path).exists() or any(fnmatchcase(f"/{each}", f"*/{pattern}") for each in known)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_named_on_a_page_exists(page, known):
    missing = {path for path in _named(page.read_text("utf-8")) if not _exists(path, known)}

    assert missing - _WRITTEN == set()
