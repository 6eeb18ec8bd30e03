"""Fixtures: a shell in an empty folder, on a database of its own."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.databases.connect import execute
from tests.support.processes.shell import JOBS, Shell
from windlass.app.windlass import Windlass


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """On SQLite, in a folder with jobs.py and nothing else."""
    shell = Shell(tmp_path)
    shell.write("jobs.py", JOBS)
    yield shell
    shell.close()


@pytest.fixture
def shell_on(tmp_path: Path) -> Iterator[Callable[[str], Shell]]:
    """The same on the database behind a URL."""
    shells: list[Shell] = []

    def make(url: str) -> Shell:
        shells.append(Shell(tmp_path, url))
        shells[-1].write("jobs.py", JOBS)
        return shells[-1]

    yield make
    for shell in shells:
        shell.close()


@pytest.fixture(scope="session")
def known_jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the definitions of jobs.py, created once."""
    folder = tmp_path_factory.mktemp("known")
    shell = Shell(folder)
    shell.write("jobs.py", JOBS)
    shell.ok("worker", "jobs.py", "--drain")
    file = folder / "windlass.db"
    # No night falls in a test: Windlass's own jobs would come among those that it expects.
    execute(
        f"sqlite:///{file}",
        "update windlass_triggers set next_run_at = next_run_at + 172800000000"
        " where tenant_id = 'system'",
    )
    return file


@pytest.fixture
def ready(shell: Shell, known_jobs: Path) -> Shell:
    """A shell whose database knows the definitions of jobs.py."""
    shutil.copy(known_jobs, shell.folder / "windlass.db")
    return shell


@pytest.fixture
def do() -> Callable[..., Any]:
    """Change a shell's database directly, faster than with a command."""

    def run(shell: Shell, what: Callable[[Windlass], Coroutine[Any, Any, Any]]) -> Any:
        async def go() -> Any:
            app = Windlass(shell.url or f"sqlite:///{shell.folder / 'windlass.db'}")
            try:
                return await what(app)
            finally:
                await app.close()

        return asyncio.run(go())

    return run
