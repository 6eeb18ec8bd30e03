"""Other systems, installed into a temporary folder, apart from Windlass.

WINDLASS_BENCH_PEERS names the folder; the default is `~/.cache/windlass-bench`.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

PYTHON_PINS = (
    "pgqueuer==1.6.0",
    "procrastinate==3.10.0",
    "huey==3.5.4",
    "asyncpg==0.32.0",
    "uvloop==0.23.0",
    "psycopg[binary,pool]",
)
#: Graphile Worker needs a newer Node than many machines have; this package is one.
NODE_PINS = ("node@22", "graphile-worker@0.18.0")

VERSIONS = {
    "PgQueuer": "1.6.0",
    "Procrastinate": "3.10.0",
    "Huey": "3.5.4",
    "Graphile Worker": "0.18.0",
}


class Peers:
    """The environments of other systems, made when first asked for. `missing` says what is not."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted
        folder = os.environ.get("WINDLASS_BENCH_PEERS", "~/.cache/windlass-bench")
        self.folder = Path(folder).expanduser()
        self.missing: list[str] = []

    @cached_property
    def python(self) -> str | None:
        """A Python with the Python peers."""
        home = self.folder / "python"
        made = self._made(home, PYTHON_PINS, "The Python peers", lambda: _install_python(home))
        return str(home / "bin" / "python") if made else None

    @cached_property
    def node(self) -> str | None:
        """A Node that is new enough, with Graphile Worker in the folder above `node_modules`."""
        home = self.folder / "node"
        made = self._made(home, NODE_PINS, "Graphile Worker", lambda: _install_node(home))
        return str(home / "node_modules" / "node" / "bin" / "node") if made else None

    def _made(
        self, home: Path, pins: Sequence[str], what: str, install: Callable[[], None]
    ) -> bool:
        if not self._wanted:
            return False
        stamp, content = home / ".pins", "\n".join(pins)
        if stamp.exists() and stamp.read_text("utf-8") == content:
            return True
        print(f"installing {what} into {home}", file=sys.stderr)
        try:
            install()
        except (OSError, subprocess.SubprocessError) as error:
            reason = getattr(error, "stderr", None) or str(error)
            print(f"{what} cannot be had: {reason[-500:]}", file=sys.stderr)
            self.missing.append(f"{what} could not be installed, and its rows are left out.")
            return False
        stamp.write_text(content, "utf-8")
        return True


def _install_python(home: Path) -> None:
    _run(sys.executable, "-m", "venv", str(home))
    _run(str(home / "bin" / "pip"), "install", "--quiet", *PYTHON_PINS)


def _install_node(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "package.json").write_text('{"private": true}\n', "utf-8")
    _run("npm", "install", "--no-audit", "--no-fund", *NODE_PINS, cwd=home)
    _run(str(home / "node_modules" / "node" / "bin" / "node"), "--version")


def _run(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd, timeout=600)
