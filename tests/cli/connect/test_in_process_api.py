"""A command on a database calls the routes without HTTP, and imports no HTTP framework."""

import pytest

from tests.support.processes.shell import Shell
from windlass.cli.framework.exit_codes import Exit

HTTP = ("fastapi", "starlette", "httpx2", "uvicorn", "pydantic")
_PROGRAM = """
import sys
from windlass.cli.main import run
code = run(sys.argv[2:])
loaded = sorted(set(sys.argv[1].split(",")) & set(sys.modules))
print(code, *loaded, file=sys.stderr)
"""


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("line", ["jobs list", "dead groups", "definitions list", "doctor"])
def test_a_read_on_a_database_imports_no_http_framework(ready: Shell, line: str):
    done = ready.python("-c", _PROGRAM, ",".join(HTTP), *line.split())

    assert done.err.splitlines()[-1] in ("0", "1")  # doctor finds no worker


@pytest.mark.database("sqlite")
@pytest.mark.parametrize(
    ("line", "unneeded"),
    [
        ("jobs list", "windlass.engine.definitions.definitions"),
        ("jobs show {job}", "windlass.engine.leases.leases"),
        ("dead groups", "windlass.engine.jobs.jobs"),
        ("schedules list", "windlass.engine.jobs.jobs"),
        ("events list", "windlass.engine.triggers.job_factory"),
        ("workers list", "windlass.storage.access.storage"),
    ],
)
def test_a_read_imports_only_what_it_needs(ready: Shell, line: str, unneeded: str):
    [job] = ready.here("enqueue", "hello", "name=Ada", "-o", "id").lines

    done = ready.python("-c", _PROGRAM, unneeded, *line.format(job=job).split())

    assert done.err.splitlines()[-1] == "0"


@pytest.mark.database("sqlite")
@pytest.mark.parametrize("line", ["jobs list", "schedules list", "queues list", "audit list"])
def test_a_read_says_that_there_is_no_database_and_creates_none(shell: Shell, line: str):
    done = shell.attempt(*line.split())

    assert done.code == Exit.UNREACHABLE
    assert "error[WL1113]: there is no database at windlass.db." in done.err
    assert "--db" in done.err
    assert list(shell.folder.glob("windlass.db*")) == []


@pytest.mark.database("sqlite")
def test_the_first_change_creates_the_database(shell: Shell):
    shell.here("queues", "pause", "default", "--reason", "busy")

    assert "default" in shell.here("queues", "list").out


@pytest.mark.database("sqlite")
def test_help_does_not_import_the_engine(shell: Shell):
    done = shell.python("-c", _PROGRAM, "windlass.engine,windlass.api,asyncio", "--help")

    assert done.err.splitlines()[-1] == "0"


@pytest.mark.database("sqlite")
def test_a_local_change_is_in_the_audit_under_the_users_name(ready: Shell):
    ready.here("queues", "pause", "default", "--reason", "busy")

    [entry, *_] = ready.here("audit", "list", "--json").json["items"]

    assert entry["action"] == "queues.pause"
    assert entry["after"]["pause_reason"] == "busy"
    assert entry["request_id"]
