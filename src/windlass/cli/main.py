"""`windlass`: parses a command line, runs the command, returns the exit code to the shell."""

import errno
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from windlass.cli.framework.commands import LazyCommand, LazyGroup
from windlass.cli.framework.error_report import report
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.flags import Flags

COMMANDS = {
    "dev": LazyCommand(
        "windlass.cli.dev.dev", "dev", "Run everything in one process, reloading on save."
    ),
    "init": LazyCommand("windlass.cli.dev.init", "init", "Write a small project to start from."),
    "worker": LazyCommand("windlass.cli.run.worker", "worker", "Run jobs until told to stop."),
    "scheduler": LazyCommand(
        "windlass.cli.run.scheduler",
        "scheduler",
        "Fire schedules and run upkeep, without running jobs.",
    ),
    "serve": LazyCommand(
        "windlass.cli.run.serve", "serve", "Serve the API, and with --all everything."
    ),
    "enqueue": LazyCommand("windlass.cli.jobs.enqueue", "enqueue", "Enqueue a job."),
    "jobs": LazyCommand(
        "windlass.cli.jobs.jobs", "jobs", "Find jobs, cancel, retry, change and explain them."
    ),
    "dead": LazyCommand(
        "windlass.cli.jobs.dead", "dead", "List dead-lettered jobs by cause; retry or discard them."
    ),
    "definitions": LazyCommand(
        "windlass.cli.definitions.definitions",
        "definitions",
        "List what may run, and change how it runs.",
    ),
    "schedules": LazyCommand(
        "windlass.cli.triggers.schedules", "schedules", "Create, preview and run schedules."
    ),
    "triggers": LazyCommand(
        "windlass.cli.triggers.triggers", "triggers", "Create jobs when events arrive."
    ),
    "events": LazyCommand(
        "windlass.cli.triggers.events", "events", "Emit, list and replay events."
    ),
    "queues": LazyCommand(
        "windlass.cli.leases.queues", "queues", "Pause, limit, move and purge queues."
    ),
    "workers": LazyCommand(
        "windlass.cli.leases.workers", "workers", "List, drain and stop workers."
    ),
    "logs": LazyCommand(
        "windlass.cli.jobs.logs", "logs", "Search and follow the log lines of all jobs."
    ),
    "tenants": LazyCommand(
        "windlass.cli.access.tenants", "tenants", "Create, suspend and limit tenants."
    ),
    "members": LazyCommand(
        "windlass.cli.access.members", "members", "Invite people into a tenant and set their roles."
    ),
    "users": LazyCommand("windlass.cli.access.users", "users", "Create users and sign-in links."),
    "tokens": LazyCommand(
        "windlass.cli.access.tokens", "tokens", "Create and revoke tokens for the API."
    ),
    "login": LazyCommand("windlass.cli.access.login", "login", "Sign in to a server."),
    "logout": LazyCommand("windlass.cli.access.login", "logout", "Sign out of a server."),
    "whoami": LazyCommand(
        "windlass.cli.access.whoami", "whoami", "Show the current identity and rights."
    ),
    "audit": LazyCommand("windlass.cli.access.audit", "audit", "Read and verify the audit log."),
    "db": LazyCommand("windlass.cli.installation.db", "db", "Migrate the database and check it."),
    "config": LazyCommand(
        "windlass.cli.installation.config", "config", "Show and change settings."
    ),
    "top": LazyCommand(
        "windlass.cli.top.top", "top", "Watch queues, workers and jobs, full-screen."
    ),
    "doctor": LazyCommand(
        "windlass.cli.installation.doctor", "doctor", "Check the installation and suggest fixes."
    ),
    "completion": LazyCommand(
        "windlass.cli.completion.completion", "completion", "Print a shell completion script."
    ),
    "explain": LazyCommand(
        "windlass.cli.installation.explain",
        "explain",
        "Show what an error code means, its causes and cures.",
    ),
    "version": LazyCommand("windlass.cli.installation.version", "version", "Show the version."),
}

#: Set by a shell's completion script.
COMPLETING = "_WINDLASS_COMPLETE"


def main() -> NoReturn:
    """Entry point of the script `windlass`."""
    # Text from outside may not fit the terminal's encoding; escapes are better than a crash.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # both are text
    if instruction := os.environ.get(COMPLETING):
        from windlass.cli.completion.completion import complete

        sys.exit(complete(instruction))
    code = run(sys.argv[1:])
    _flush_output()
    sys.exit(code)


def _flush_output() -> None:
    """Write what is buffered, or drop it if the terminal or the reader is gone: Python's own flush
    at exit would replace the exit code by 120. Other errors, such as a full disk, are left to it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            if error.errno in (errno.EIO, errno.EPIPE):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    flags = Flags()
    try:
        with root.make_context("windlass", list(args), obj=flags) as ctx:
            code = root.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe: prevent Python's flush at exit, which would fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # noqa: BLE001  the edge: told to a person
        return report(error, flags)
    return code if isinstance(code, int) else Exit.OK


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    examples=[
        "windlass dev jobs.py                  # one process, no services, reloads on save",
        "windlass enqueue hello name=Ada --wait",
        "windlass jobs list --state dead_letter,retrying",
        "windlass --db postgresql://app@db/app db migrate",
    ],
)
@click.version_option(None, "--version", package_name="windlass", message="%(prog)s %(version)s")
def root() -> None:
    """Durable background jobs on the database you already have.

    Every flag has a variable: --no-input is WINDLASS_NO_INPUT. A flag wins over the environment,
    the environment over the context in use, and the context over windlass.toml.
    """
