"""Commands that are small programs written by a test."""

import sys
from pathlib import Path
from typing import Any

import pytest

from windlass import Settings, Windlass
from windlass.worker.handlers import Handler

#: A payload of one text.
TEXT = {"properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def program(tmp_path: Path) -> Any:
    """Writes a Python program and answers its path."""

    def write(text: str, name: str = "program") -> str:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable} -S\nimport os, sys, time\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


def a_command(argv: list[str], settings: Settings | None = None, **options: Any) -> Handler:
    """The handler of a command, as `wl.command` makes it."""
    wl = Windlass("sqlite:///never-opened.db", settings=settings or Settings())
    return wl.command("plain", argv, **options).handler
