"""`windlass worker`: runs jobs until stopped."""

import sys

import click

from windlass.cli.framework.commands import Runner, with_call
from windlass.cli.framework.flags import SettingOption
from windlass.cli.framework.invocation import Invocation
from windlass.cli.run.module_flags import resolve_modules, with_modules
from windlass.cli.run.pid1 import run_as_child
from windlass.cli.run.signals import end_at_once


@click.command(
    cls=Runner,
    examples=[
        "windlass worker shop.jobs",
        "windlass worker jobs.py -q mail -q default -c 16",
        "windlass worker jobs.py --drain             # what waits, then exit",
        "windlass worker jobs.py --without-scheduler # where `windlass scheduler` runs apart",
        "windlass worker jobs.py --url https://jobs.example.com --token-file token",
    ],
)
@with_modules
@click.option(
    "-q",
    "--queue",
    "queues",
    multiple=True,
    cls=SettingOption,
    metavar="NAME",
    help="Serve this queue; may be repeated, * serves all. [WINDLASS_WORKER_QUEUES]",
)
@click.option(
    "--with-scheduler/--without-scheduler",
    "scheduling",
    default=None,
    cls=SettingOption,
    help="Fire schedules too, or not. [WINDLASS_SCHEDULER_ENABLED, on by default]",
)
@click.option("--drain", is_flag=True, help="Exit when there is no job to claim.")
@with_call
def worker(
    call: Invocation,
    modules: tuple[str, ...],
    queues: tuple[str, ...],
    concurrency: int | None,
    scheduling: bool | None,
    drain: bool,
) -> int:
    """Run the jobs that MODULEs declare, until stopped.

    With --url it works for the server there, without a database of its own.

    A module is a dotted name or a file; without one, the setting `modules` names them. On SIGTERM,
    Ctrl-C, a closed terminal or `windlass workers stop`, running jobs may finish for
    worker.shutdown_timeout_seconds and the rest are handed back; a second signal hands all back at
    once.

    It prints its id once its row exists, then one line for each job that ends; with --quiet only
    warnings and errors.

    Exits with 0 when drained, also above worker.memory_limit_mb, so that a supervisor starts
    another; 1 when no slot is left because runs ignored their stop; 2 when a module or setting is
    wrong; 4 when the server refuses its token; 6 when the database or server cannot be reached at
    the start; 10 when jobs could be neither finished nor handed back; 11 when an async handler
    blocked the event loop past its time limit: it is recorded as timed out, and all other jobs are
    handed back; 12 when the database was restored or promoted meanwhile: start it again.
    """
    end_at_once()
    if (code := run_as_child()) is not None:
        return code
    # A heavy import, not needed if a child does the work.
    from windlass.cli.run.load_modules import load_apps
    from windlass.cli.run.log_output import log_to_stderr, telemetry
    from windlass.cli.run.run_workers import WorkerFlags, WorkerGroup, work
    from windlass.tasks import run

    names = resolve_modules(call, modules)
    log_to_stderr(
        verbose=call.flags.verbose,
        colored=call.out.colored(sys.stderr),
        quiet=call.flags.quiet,
    )
    apps = load_apps(names)
    for app in apps:
        app.telemetry = telemetry()
        if call.flags.db:
            app.use_database(call.flags.db)
    if scheduling and call.server is not None:
        raise click.UsageError("--with-scheduler needs a database: a server fires its schedules")
    flags = WorkerFlags(
        concurrency=concurrency,
        queues=queues or None,
        drain=drain,
        scheduling=scheduling,
        server=call.server,
    )
    known = sorted({key for app in apps for key in app.handlers})

    def greet() -> None:
        for each in group.workers:
            call.out.say(f"Worker {each.id} {group.describe(each)}.")
        call.out.say(f"Running {', '.join(known) or 'no jobs yet'}.")

    group = WorkerGroup(call.out.say, greet)
    return run(work(apps, flags, group))
