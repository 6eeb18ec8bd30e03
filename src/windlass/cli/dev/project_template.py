"""The files of a project to start from, and what is in them."""

from collections.abc import Mapping
from importlib.resources import files

from windlass.settings.documented import template

#: Where a file goes, and which text of the folder `starter` it has. They end in .txt, so that nobody takes
#: them for files of this package.
_FILES: Mapping[str, str] = {
    "jobs.py": "jobs.py.txt",
    "tests/test_jobs.py": "test_jobs.py.txt",
    "conftest.py": "conftest.py.txt",
    "README.md": "README.md.txt",
}
_SETTINGS = "windlass.toml"
_MODULES = "#modules = []"


def project() -> Mapping[str, str]:
    """The texts by where they belong."""
    starter = files("windlass.cli.dev").joinpath("starter")
    texts = {name: starter.joinpath(text).read_text("utf-8") for name, text in _FILES.items()}
    return {**texts, _SETTINGS: _settings()}


def _settings() -> str:
    """All settings with their defaults; only where the jobs are is said."""
    text = template()
    assert _MODULES in text
    return text.replace(_MODULES, 'modules = ["jobs"]')
