"""Every command as a process: for a program on SQLite, for a person on PostgreSQL, and over HTTP."""

import shlex
from collections.abc import Callable
from itertools import cycle

import click
import pytest

from tests.cli.framework.command_lines import ELSEWHERE, LINES, Line, There, furnish
from tests.cli.framework.test_help import COMMANDS
from tests.cli.run.test_serve import address
from tests.support.processes.shell import Done, Shell

# A hundred processes each, on a machine that has other things to do.
pytestmark = pytest.mark.timeout(400)

Run = Callable[[list[str], Line], Done]


def test_every_command_has_a_line():
    every = {
        path.removeprefix("windlass ")
        for path, command in COMMANDS.items()
        if not isinstance(command, click.Group) or command.invoke_without_command
    }

    assert {*LINES, *ELSEWHERE} == every - {"windlass"}


@pytest.mark.database("sqlite")
def test_a_program_runs_them(shell: Shell):
    there = _furnished(shell)

    assert _wrong(there, lambda args, line: shell.run(*args, "--yes")) == {}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_person_at_a_terminal_runs_them(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    there = _furnished(shell)

    assert _wrong(there, lambda args, line: shell.at_terminal(*args, types=line.answer)) == {}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_they_work_over_http(shell_on: Callable[[str], Shell], database):
    shell = shell_on(database.url)
    there = _furnished(shell)
    server = shell.start("serve", "jobs.py", "--no-auth", "--port", "0")
    far = ("--url", address(server))

    def run(args: list[str], line: Line) -> Done:
        return shell.run(*args, "--yes", *(() if line.local else far))

    assert _wrong(there, run) == {}


def _furnished(shell: Shell) -> There:
    there = furnish(shell)
    shell.start("worker", "jobs.py").sees("Running")
    there["worker"] = cycle(shell.here("workers", "list", "-o", "id").lines)
    return there


def _wrong(there: There, run: Run) -> dict[str, Done]:
    """The lines with a wrong exit code, and their output."""
    wrong = {}
    for name, line in LINES.items():
        args = [*name.split(), *(part.format_map(there) for part in shlex.split(line.args))]
        done = run(args, line)
        if done.code != line.code:
            wrong[shlex.join(args)] = done
    return wrong
