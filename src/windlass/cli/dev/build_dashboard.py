"""Builds the dashboard of a checkout before `windlass dev` serves it."""

import fcntl
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

#: Of a failed build, so many of the last lines are shown.
_SHOWN = 15
_QUESTION = 1  #: exit code of `make --question` for a target that is out of date


def build_dashboard(say: Callable[[str], None], folder: Path | None = None) -> None:
    """Build the dashboard if its sources have changed, by `make ui` of the checkout. An installed
    package has its dashboard; without make or npm, what was built before is served."""
    checkout = folder or Path(__file__).parents[4]
    package = checkout / "ui" / "package.json"
    if not package.is_file() or not all(map(shutil.which, ("make", "npm"))):
        return
    with package.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # another `windlass dev` may build it now
        if _make(checkout, "--question").returncode != _QUESTION:
            return
        say("Building the dashboard: its sources have changed.")
        done = _make(checkout)
    if done.returncode != 0:
        for line in done.stdout.splitlines()[-_SHOWN:]:
            say(f"  {line}")
        say("The dashboard could not be built: an older one is served, or a plain page.")


def _make(checkout: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", *flags, "ui"],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
