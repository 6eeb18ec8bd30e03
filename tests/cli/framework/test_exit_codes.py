"""Every exit code, from a process: for a program and for a person, on SQLite and PostgreSQL."""

import signal
from collections.abc import Callable, Mapping

import pytest

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from windlass.cli.framework.exit_codes import Exit

#: Code -> a line that ends with it. `{queued}`, `{done}` and `{dead}` are jobs in that state.
_LINES: Mapping[Exit, str] = {
    Exit.OK: "jobs show {done}",
    Exit.FAILED: "doctor",  # nobody serves what is queued
    Exit.USAGE: "jobs list --limit many",
    Exit.NOT_FOUND: "jobs show 0123456789ab",
    Exit.CONFLICT: "jobs cancel {done}",
    Exit.UNREACHABLE: "jobs list --db postgresql://127.0.0.1:1/x",
    Exit.JOB_FAILED: "jobs wait {dead}",
    Exit.TIMED_OUT: "jobs wait {queued} --timeout 100ms",
    Exit.PARTLY: "jobs cancel {queued} {done} --yes",
}
#: Code -> where it is tried, since it takes more than a line.
_ELSEWHERE: Mapping[Exit, str] = {
    Exit.FORBIDDEN: "test_a_request_without_a_token_has_its_exit_code",
    Exit.INTERRUPTED: "test_an_interrupt_ends_waiting_commands",
    Exit.LEFT_BEHIND: "test_worker.py",
    Exit.BLOCKED: "journeys/failures/test_blocked_workers.py",
    Exit.EPOCH_CHANGED: "test_worker.py",
}

_ON = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


def test_every_code_is_tried():
    assert {*_LINES, *_ELSEWHERE} == set(Exit)


@_ON
@pytest.mark.parametrize("reader", ["program", "person"])
def test_a_line_ends_with_its_code(lived: tuple[Shell, Mapping[str, str]], reader):
    shell, jobs = lived
    run = shell.run if reader == "program" else shell.at_terminal

    ended = {code: run(*line.format_map(jobs).split()) for code, line in _LINES.items()}

    assert {code: done.code for code, done in ended.items()} == {code: code for code in _LINES}
    told = ("USAGE", "NOT_FOUND", "CONFLICT", "UNREACHABLE", "JOB_FAILED", "TIMED_OUT")
    for name in told:
        assert "error[WL" in ended[Exit[name]].out + ended[Exit[name]].err


@_ON
def test_a_request_without_a_token_has_its_exit_code(lived: tuple[Shell, Mapping[str, str]]):
    shell, _ = lived
    server = shell.start("serve", "--port", "0")

    done = shell.run("jobs", "list", "--url", address(server))

    assert done.code == Exit.FORBIDDEN
    assert done.err.startswith("error[WL5101]:")


@_ON
def test_an_interrupt_ends_waiting_commands(lived: tuple[Shell, Mapping[str, str]]):
    shell, jobs = lived
    waiting = shell.start("enqueue", "hello", "name=Bob", "--after", jobs["queued"], "--wait")
    waiting.sees("waiting for its end")
    waiting.stop(signal.SIGINT)
    asked = shell.sit_at("jobs", "cancel", jobs["queued"], jobs["done"])
    asked.sees(r"\[y/N\]")
    asked.interrupt(lambda: asked.process.poll() is not None)

    assert waiting.ends() == asked.ends() == Exit.INTERRUPTED
    assert "Traceback" not in waiting.text + asked.text
    assert shell.here("jobs", "show", jobs["queued"], "--json").json["state"] == "queued"


@pytest.fixture
def lived(shell_on: Callable[[str], Shell], database) -> tuple[Shell, Mapping[str, str]]:
    """A shell on a database with jobs that have completed, failed and wait."""
    shell = shell_on(database.url)
    shell.here("definitions", "sync", "jobs.py")
    made = {"done": ("hello", "name=Ada"), "dead": ("fail",)}
    jobs = {kind: shell.here("enqueue", *job).out.strip() for kind, job in made.items()}
    shell.ok("worker", "jobs.py", "--drain")
    jobs["queued"] = shell.here("enqueue", "hello", "name=Ada").out.strip()
    return shell, jobs
