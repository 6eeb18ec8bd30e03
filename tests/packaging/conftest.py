"""A copy of what a package is built from."""

import shutil
from pathlib import Path

import pytest

from tests.layout.repository import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The package's sources, with a small dashboard to be built, and none built."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "dashboard")
    )
    (folder / "ui").mkdir()
    (folder / "ui" / "package-lock.json").write_text('{"packages": {"": {}}}')
    return folder
