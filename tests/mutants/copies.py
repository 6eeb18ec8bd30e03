"""A copy of the project in which bugs are planted; the working tree is never touched."""

import compileall
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from tests.mutants.mutant import ROOT, Mutant, source_of

_COPIED = ("src", "tests", "docs", "examples")
_FILES = ("pyproject.toml", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".hypothesis")


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of one pytest process. `code` is None if its time was up."""

    code: int | None
    output: str


class SourceCopy:
    """The source tree in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
        for name in _FILES:
            shutil.copyfile(ROOT / name, folder / name)
        # Bytecode is checked against the source's hash: a planted bug is never run from an old file.
        compileall.compile_dir(
            folder, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH, workers=1
        )

    @contextmanager
    def with_bug(self, mutant: Mutant) -> Iterator[None]:
        """Plant one bug, and take it out again."""
        path = source_of(mutant, self._folder)
        text = path.read_text("utf-8")
        path.write_text(mutant.applied(text), "utf-8")
        try:
            yield
        finally:
            path.write_text(text, "utf-8")

    def test(self, tests: Sequence[str], *, databases: str, seconds: float) -> Finished:
        """Run some tests here until the first one fails."""
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-n", "0", "-q", "--tb=short"]
        command += ["-p", "no:cacheprovider", "-p", "no:randomly", "--timeout=60", *tests]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self._folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WINDLASS_TEST_DATABASES": databases,
        }
        with subprocess.Popen(
            command,
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=seconds)
                return Finished(process.returncode, output)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                return Finished(None, output)
