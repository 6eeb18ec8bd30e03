"""`windlass dev`: worker, scheduler and API in one terminal, for development."""

import sys

import click

from windlass.cli.framework.commands import Runner, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.run.module_flags import resolve_modules, with_modules
from windlass.cli.run.signals import end_at_once

_DEMO = "windlass.cli.dev.demo"
_DEMO_DATABASE = "sqlite:///demo.db"
#: Its jobs mostly wait, and one of them runs for a quarter of an hour.
_DEMO_CONCURRENCY = 12
#: Key shown when the terminal is left to the jobs' code.
_STOP = "Ctrl-C stop"


@click.command(
    cls=Runner,
    examples=[
        "windlass dev jobs.py",
        "windlass dev                                # finds jobs.py, or files that make an app",
        "windlass dev shop.jobs --db postgresql://localhost/shop",
        "windlass dev --demo                         # no file needed: a shop that never rests",
    ],
)
@with_modules
@click.option(
    "--port",
    default=8787,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Serve the API at this port, or the next that is free.",
)
@click.option("--demo", is_flag=True, help="Run sample jobs, on demo.db unless --db is given.")
@click.option(
    "--no-auth",
    is_flag=True,
    help="No authentication: everybody on this machine may do everything.",
)
@click.option("--no-reload", is_flag=True, help="Do not reload on save; run in one process.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser when ready.")
@with_call
def dev(
    call: Invocation,
    modules: tuple[str, ...],
    concurrency: int | None,
    port: int,
    demo: bool,
    no_auth: bool,
    no_reload: bool,
    open_page: bool,
) -> int:
    """Run the jobs that MODULEs declare, serve the API, show what happens, and reload on save.

    The default database is the SQLite file windlass.db; its tables are created. All queues are
    served. It prints a one-time link to sign in to the API. Programs need a token (`windlass tokens
    create`), or --no-auth. Jobs that run while a file is saved finish in the process they run in. Code
    that cannot be imported stops nothing: the error is shown here and in the dashboard.

    At a terminal it has keys; `?` lists them. With --no-reload the terminal is left to your code,
    for a debugger.
    """
    end_at_once()
    from windlass.cli.dev.build_dashboard import build_dashboard
    from windlass.cli.dev.dev_child import DevChild
    from windlass.cli.dev.dev_keys import KEYS
    from windlass.cli.dev.reloader import Supervisor
    from windlass.cli.dev.terminal import Terminal
    from windlass.cli.run.listen_sockets import listen_near
    from windlass.cli.run.run_workers import WorkerFlags

    if demo:
        modules = (*modules, _DEMO)
        # Ignore WINDLASS_DATABASE_URL: demo jobs must not mix with real ones.
        call.flags.db = call.flags.db or _DEMO_DATABASE
        concurrency = concurrency or _DEMO_CONCURRENCY
    names = resolve_modules(call, modules, search_folder=True)
    # Opened once, so that the port stays the same over reloads.
    listening = listen_near("127.0.0.1", port)
    if (actual := listening.getsockname()[1]) != port:
        call.out.say(f"Port {port} is not free: using port {actual}. Choose one with --port.")
    build_dashboard(call.out.say)
    flags = WorkerFlags(concurrency=concurrency, queues=["*"])
    has_keys = call.out.can_ask and sys.stdout.isatty() and not (no_reload or call.flags.no_input)
    keys = KEYS if has_keys else _STOP if sys.stdin.isatty() else ""
    child = DevChild(call, names, flags, listening, no_auth=no_auth, keys=keys, open=open_page)
    if no_reload:
        return child.run(None, True)
    terminal = Terminal(sys.stdin.fileno()) if has_keys else None
    return Supervisor(child.run, call.out.say, terminal).run()
