"""Every command that writes takes --dry-run, and with it nothing changes."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from tests.cli.shell import JOBS, Shell
from tests.cli.test_doctor import WORKER
from tests.cli.test_help import COMMANDS
from tests.cli.test_serve import address
from windlass.app import Windlass

#: What only looks, or goes on until it is stopped; `login` and `logout` are about the user's own
#: credentials. `queues limits` writes and has no --dry-run yet.
READS = {
    *(f"windlass {name}" for name in ("dev", "worker", "scheduler", "serve", "top", "doctor")),
    *(f"windlass {name}" for name in ("completion", "explain", "version", "whoami")),
    *(f"windlass {name}" for name in ("login", "logout")),
    *(f"windlass jobs {verb}" for verb in ("attempts", "explain", "export", "graph", "history")),
    *(f"windlass jobs {verb}" for verb in ("list", "logs", "show", "wait")),
    *(f"windlass dead {verb}" for verb in ("groups", "list", "show")),
    *(f"windlass definitions {verb}" for verb in ("list", "schema", "show")),
    *(f"windlass schedules {verb}" for verb in ("list", "preview", "show")),
    *(f"windlass triggers {verb}" for verb in ("list", "show", "test")),
    *(f"windlass events {verb}" for verb in ("list", "show", "tail")),
    *(f"windlass {noun} {verb}" for noun in ("queues", "workers") for verb in ("list", "show")),
    *(f"windlass logs {verb}" for verb in ("search", "tail")),
    *(f"windlass tenants {verb}" for verb in ("list", "show")),
    *(f"windlass {noun} list" for noun in ("members", "users", "tokens", "audit")),
    "windlass audit verify",
    *(f"windlass db {verb}" for verb in ("check", "sql", "status")),
    *(f"windlass config {verb}" for verb in ("get", "show")),
    "windlass queues limits",
}

#: A command that writes -> what follows it. `{job}` and the like are things that are there.
WRITES = {
    "init": ["new"],
    "enqueue": ["hello", "name=Ada"],
    "jobs enqueue": ["hello", "name=Ada"],
    "jobs clone": ["{job}"],
    "jobs cancel": ["{job}"],
    "jobs retry": ["{dead}"],
    "jobs run-now": ["{job}"],
    "jobs delete": ["{dead}"],
    "dead retry": ["{dead}"],
    "dead edit-retry": ["{dead}", "why=other"],
    "dead discard": ["{dead}"],
    "definitions run": ["hello", "name=Ada"],
    "definitions enable": ["hello"],
    "definitions disable": ["hello"],
    "definitions limits": ["hello", "--max-concurrency", "3"],
    "definitions reset": ["hello"],
    "definitions sync": ["more.py"],
    "schedules create": ["--name", "nightly", "--definition", "fail", "--cron", "0 2 * * *"],
    "schedules update": ["hourly", "--cron", "5 * * * *"],
    "schedules enable": ["hourly"],
    "schedules disable": ["hourly"],
    "schedules reset": ["hourly"],
    "schedules delete": ["hourly"],
    "schedules run": ["hourly"],
    "triggers create": ["--name", "again", "--definition", "fail", "--event", "a.b"],
    "triggers update": ["seen", "--event", "c.d"],
    "triggers enable": ["seen"],
    "triggers disable": ["seen"],
    "triggers reset": ["seen"],
    "triggers delete": ["seen"],
    "events emit": ["some.thing", "a=1"],
    "events replay": ["{event}"],
    "queues pause": ["default"],
    "queues resume": ["default"],
    "workers drain": ["{worker}"],
    "workers resume": ["{worker}"],
    "workers stop": ["{worker}"],
    "tenants create": ["globex"],
    "tenants suspend": ["acme"],
    "tenants resume": ["acme"],
    "tenants limits": ["acme", "--max-open", "5"],
    "tenants delete": ["acme"],
    "members invite": ["grace", "-t", "acme"],
    "members role": ["ada", "tenant_admin", "-t", "acme"],
    "members remove": ["ada", "-t", "acme"],
    "users create": ["edsger"],
    "users link": ["ada"],
    "tokens create": ["deploy", "--role", "superadmin"],
    "tokens revoke": ["shop"],
    "db migrate": [],
    "db downgrade": ["--to", "5"],
    "db secure": None,
    "config set": ["worker.concurrency", "3"],
    "config use": ["here"],
    "config contexts add": ["there", "--db", "sqlite:///there.db"],
    "config contexts remove": ["here"],
}


@pytest.fixture(scope="module")
def busy(
    tmp_path_factory: pytest.TempPathFactory, known_jobs: Path
) -> tuple[Shell, dict[str, str]]:
    """A shell on a database with one of everything, and their ids."""
    shell = Shell(tmp_path_factory.mktemp("busy"))
    shell.write("jobs.py", JOBS)
    shell.write("more.py", JOBS.replace("def hello", "def hullo"))
    with sqlite3.connect(known_jobs) as old, sqlite3.connect(shell.folder / "windlass.db") as new:
        old.backup(new)
    shell.here("enqueue", "fail")
    shell.here(
        "schedules", "create", "--name", "hourly", "--definition", "fail", "--cron", "0 * * * *"
    )
    shell.here("triggers", "create", "--name", "seen", "--definition", "fail", "--event", "a.b")
    shell.ok("worker", "jobs.py", "--drain")
    shell.here("tenants", "create", "acme")
    shell.here("members", "invite", "ada", "-t", "acme")
    shell.here("tokens", "create", "shop", "--role", "worker")
    shell.here("config", "contexts", "add", "here", "--db", "sqlite:///windlass.db")
    asyncio.run(_beat(f"sqlite:///{shell.folder / 'windlass.db'}"))
    return shell, {
        "worker": WORKER.id,
        "job": shell.here("enqueue", "hello", "name=Ada", "--hold", "-o", "id").out.strip(),
        "dead": shell.here("dead", "list", "-o", "id").lines[0],
        "event": shell.here("events", "emit", "some.thing", "-o", "id").out.strip(),
    }


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


def test_every_command_that_writes_is_tried():
    tried = {f"windlass {name}" for name in WRITES}

    assert tried == set(verbs()) - READS


@pytest.mark.parametrize("name", [name for name, args in WRITES.items() if args is not None])
def test_a_dry_run_changes_nothing(busy, name):
    shell, ids = busy
    before = stored(shell)

    shell.here(*name.split(), *(part.format(**ids) for part in WRITES[name]), "--dry-run")

    assert stored(shell) == before


def test_what_would_be_done_is_told_to_people_and_programs(busy):
    shell, _ = busy

    told = shell.here("tenants", "create", "globex", "--weight", "2", "--dry-run")
    body = shell.here("tenants", "create", "globex", "--weight", "2", "--dry-run", "--json").json

    assert told.out == ""
    assert told.err == "Would make the tenant globex. Nothing was changed.\n"
    assert body == {
        "would": "make the tenant globex",
        "method": "POST",
        "path": "/tenants",
        "body": {"id": "globex", "weight": 2},
    }


def test_nobody_is_asked_before_a_dry_run(busy):
    shell, _ = busy

    assert shell.run("members", "remove", "ada", "-t", "acme", "--dry-run", "--no-input").code == 0


def test_a_dry_run_tells_of_what_is_not_there(busy):
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

    assert "Would make the tenant globex." in done.err
    assert ready.run("tenants", "show", "globex").code == 3
