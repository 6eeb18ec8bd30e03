"""Every command that writes takes --dry-run, which changes nothing."""

import asyncio
import shlex
import sqlite3
from collections.abc import Iterator
from itertools import repeat

import pytest

from tests.cli.framework.command_lines import LINES, There, furnish
from tests.cli.framework.test_help import COMMANDS
from tests.cli.installation.test_doctor import WORKER
from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from windlass.app.windlass import Windlass

#: What only looks, or goes on until it is stopped; `login` and `logout` are about the user's own
#: credentials.
READS = {
    *(f"windlass {name}" for name in ("dev", "worker", "scheduler", "serve", "top", "doctor")),
    *(f"windlass {name}" for name in ("completion", "explain", "version", "whoami")),
    *(f"windlass {name}" for name in ("login", "logout")),
    *(f"windlass jobs {verb}" for verb in ("attempts", "explain", "export", "graph", "history")),
    *(f"windlass jobs {verb}" for verb in ("list", "logs", "reveal", "show", "wait")),
    *(f"windlass dead {verb}" for verb in ("groups", "list", "show")),
    *(f"windlass definitions {verb}" for verb in ("list", "schema", "show")),
    *(f"windlass schedules {verb}" for verb in ("list", "preview", "show")),
    *(f"windlass triggers {verb}" for verb in ("list", "show", "test")),
    *(f"windlass events {verb}" for verb in ("list", "show", "tail")),
    *(f"windlass {noun} {verb}" for noun in ("queues", "workers") for verb in ("list", "show")),
    *(f"windlass logs {verb}" for verb in ("search", "tail")),
    *(f"windlass tenants {verb}" for verb in ("list", "show")),
    *(f"windlass {noun} list" for noun in ("members", "users", "tokens", "audit")),
    *(f"windlass audit {verb}" for verb in ("head", "verify")),
    *(f"windlass db {verb}" for verb in ("check", "sql", "status")),
    *(f"windlass config {verb}" for verb in ("contexts", "generate-key", "get", "show")),
}

WRITES = [name for name in LINES if f"windlass {name}" not in READS]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shell, There]]:
    """A shell on a database with some of everything, and the ids of these things."""
    shell = Shell(tmp_path_factory.mktemp("busy"))
    there = furnish(shell)
    asyncio.run(_beat(f"sqlite:///{shell.folder / 'windlass.db'}"))
    there["worker"] = repeat(WORKER.id)
    yield shell, there
    shell.close()


async def _beat(url: str) -> None:
    app = Windlass(url)
    await app.engine.workers.beat(WORKER)
    await app.close()


def stored(shell: Shell) -> tuple[list[str], dict[str, bytes]]:
    """Every row of the database, and every file of the user's."""
    with sqlite3.connect(shell.folder / "windlass.db") as database:
        rows = [line for line in database.iterdump() if line.startswith("INSERT")]
    files = {
        str(file.relative_to(shell.folder)): file.read_bytes()
        for file in shell.folder.rglob("*")
        if file.is_file() and ".db" not in file.name and "__pycache__" not in str(file)
    }
    return rows, files


def verbs() -> list[str]:
    return [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]


@pytest.mark.parametrize("path", verbs())
def test_every_command_that_writes_takes_dry_run(path):
    options = [name for param in COMMANDS[path].params for name in param.opts]

    assert ("--dry-run" in options) != (path in READS)


@pytest.mark.parametrize("name", WRITES)
def test_a_dry_run_changes_nothing(busy, name):
    shell, there = busy
    before = stored(shell)

    args = [part.format_map(there) for part in shlex.split(LINES[name].args)]
    shell.here(*name.split(), *args, "--dry-run")

    assert stored(shell) == before


def test_a_dry_run_shows_the_change_to_people_and_programs(busy):
    shell, _ = busy

    told = shell.here("tenants", "create", "globex", "--weight", "2", "--dry-run")
    body = shell.here("tenants", "create", "globex", "--weight", "2", "--dry-run", "--json").json

    assert told.out == "Would create the tenant globex. Nothing was changed.\n"
    assert told.err == ""
    assert body == {
        "would": "create the tenant globex",
        "method": "POST",
        "path": "/tenants",
        "body": {"id": "globex", "weight": 2},
    }


def test_a_dry_run_needs_no_confirmation(busy):
    shell, _ = busy

    assert shell.run("members", "remove", "ada", "-t", "acme", "--dry-run", "--no-input").code == 0


def test_a_dry_run_of_something_unknown_is_not_found(busy):
    shell, _ = busy

    assert shell.run("tenants", "limits", "nobody", "--max-open", "5", "--dry-run").code == 3
    assert shell.run("definitions", "limits", "none", "--max-attempts", "5", "--dry-run").code == 3
    assert shell.run("schedules", "run", "none", "--dry-run").code == 3


def test_a_dry_run_of_a_setting_checks_it(busy):
    shell, _ = busy

    assert shell.run("config", "set", "worker.concurrency", "0", "--dry-run").code == 2


def test_a_dry_run_changes_nothing_on_a_server(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")

    done = ready.ok("--url", address(server), "tenants", "create", "globex", "--dry-run")

    assert "Would create the tenant globex." in done.out
    assert ready.run("tenants", "show", "globex").code == 3
