"""The argument MODULE and the flag --concurrency, shared by `dev` and `worker`."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from windlass.cli.framework.flags import SettingOption
from windlass.cli.framework.invocation import Invocation
from windlass.errors import AppNotFound

_MAKES_AN_APP = "Windlass("


def with_modules(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument MODULE and the flag --concurrency to a command."""
    concurrency = click.option(
        "-c",
        "--concurrency",
        type=click.IntRange(1, 10_000),
        cls=SettingOption,
        metavar="N",
        help="Jobs to run at the same time, for each app. [WINDLASS_WORKER_CONCURRENCY]",
    )
    return click.argument("modules", nargs=-1, metavar="[MODULE]...")(concurrency(command))


def resolve_modules(
    call: Invocation, modules: Sequence[str], *, search_folder: bool = False, needed: bool = True
) -> Sequence[str]:
    """The given modules, else those of the settings, else those found in this folder."""
    if call.flags.db:
        # For modules that create their app from the settings, in child processes too.
        os.environ["WINDLASS_DATABASE_URL"] = call.flags.db
    names = (
        modules or call.settings.modules or (_find_job_files(Path.cwd()) if search_folder else ())
    )
    if needed and not names:
        raise AppNotFound([])
    return names


def _find_job_files(folder: Path) -> list[str]:
    """The files that seem to declare jobs; only jobs.py if it exists."""
    if (folder / "jobs.py").is_file():
        return ["jobs.py"]
    return [
        path.name
        for path in sorted(folder.glob("*.py"))
        if _MAKES_AN_APP in path.read_text("utf-8", errors="replace")
    ]
