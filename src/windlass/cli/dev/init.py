"""`windlass init`: creates a small project."""

from collections.abc import Mapping
from pathlib import Path

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.errors import CommandInvalid
from windlass.errors.wording import listed

#: Path of a file -> its template in the folder `starter`. Templates end in .txt, so that tools do
#: not take them for files of this package.
_FILES: Mapping[str, str] = {
    "jobs.py": "jobs.py.txt",
    "tests/test_jobs.py": "test_jobs.py.txt",
    "conftest.py": "conftest.py.txt",
    "README.md": "README.md.txt",
}
_SETTINGS = "windlass.toml"
_MODULES = "#modules = []"


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass init                  # in this folder",
        "windlass init shop && cd shop && windlass dev",
        "windlass init shop --dry-run   # which files it would write",
    ],
)
@click.argument("folder", default=".", metavar="[DIR]", type=click.Path(file_okay=False))
@click.option("--dry-run", is_flag=True, help="Say which files, and write none.")
@with_call
def init(call: Invocation, folder: str, dry_run: bool) -> None:
    """Write jobs, their tests and settings into DIR, as a starting point.

    Nothing is overwritten: if one of the files exists, none is written.
    """

    texts = {Path(folder, name): text for name, text in _template_files().items()}
    if existing := [str(path) for path in texts if path.exists()]:
        raise CommandInvalid(
            f"{listed(existing)} would be overwritten.",
            hint="Choose another folder: `windlass init DIR`.",
        )
    for path, text in texts.items():
        if not dry_run:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        call.out.data(str(path))
    if not dry_run:
        enter = "" if folder == "." else f"cd {folder} && "
        call.out.say(f"Next:  {enter}windlass dev")
        call.out.say("Then:  windlass enqueue hello name=Ada --wait     (in another terminal)")


def _template_files() -> Mapping[str, str]:
    """The project's files: path and content."""
    from importlib.resources import files

    starter = files("windlass.cli.dev").joinpath("starter")
    texts = {name: starter.joinpath(text).read_text("utf-8") for name, text in _FILES.items()}
    return {**texts, _SETTINGS: _settings()}


def _settings() -> str:
    """The settings file: all settings commented out with their defaults, except `modules`."""
    from windlass.settings.documented import template

    text = template()
    assert _MODULES in text
    return text.replace(_MODULES, 'modules = ["jobs"]')
