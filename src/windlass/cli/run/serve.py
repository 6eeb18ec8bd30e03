"""`windlass serve`: the API and upkeep, and with --all the workers and the scheduler too."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Runner, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.run.module_flags import resolve_modules
from windlass.cli.run.pid1 import run_as_child
from windlass.cli.run.signals import end_at_once, on_stop_signals

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass


@click.command(
    cls=Runner,
    examples=[
        "windlass serve                          # the API on http://127.0.0.1:8787",
        "windlass serve shop.jobs --all --port 9000",
    ],
)
@click.argument("modules", nargs=-1, metavar="[MODULE]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen at this address.")
@click.option(
    "--port",
    default=8787,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Listen at this port; 0 takes any that is free.",
)
@click.option("--all", "everything", is_flag=True, help="Run workers and the scheduler too.")
@click.option("--no-auth", is_flag=True, help="No authentication; listens on loopback only.")
@with_call
def serve(
    call: Invocation,
    modules: tuple[str, ...],
    host: str,
    port: int,
    everything: bool,
    no_auth: bool,
) -> int:
    """Serve the API until stopped.

    Requests need a token (`windlass tokens create`) or a session. With --no-auth they need neither,
    and the server listens on loopback only. Until an administrator has signed in, it prints a link
    for that. It works from the rows in the database; with MODULEs, it registers what they declare
    first. On SIGTERM, Ctrl-C or a closed terminal it lets running jobs finish, then requests, and
    exits.
    """
    end_at_once()
    # PID 1 in a container has no default signal handling.
    if (code := run_as_child()) is not None:
        return code
    # A heavy import, not needed if a child does the work.
    from windlass.app.windlass import Windlass
    from windlass.cli.run.load_modules import load_apps
    from windlass.cli.run.log_output import log_to_stderr, telemetry

    names = resolve_modules(call, modules, needed=False)
    log_to_stderr(verbose=call.flags.verbose, colored=call.out.colored(sys.stderr))
    [app, *_] = load_apps(names) if names else [Windlass(settings=call.settings)]
    app.telemetry = telemetry()
    if call.flags.db:
        app.use_database(call.flags.db)
    _run(_serve(call, app, host, port, everything=everything, no_auth=no_auth))
    return 0


async def _serve(
    call: Invocation, app: "Windlass", host: str, port: int, *, everything: bool, no_auth: bool
) -> None:
    from windlass.api.access.callers import open_access
    from windlass.api.access.credentials import by_credentials
    from windlass.api.app import create_api
    from windlass.api.server import Server
    from windlass.cli.access.first_sign_in import setup_url
    from windlass.cli.run.listen_sockets import address, listen

    listening = listen(host, port, open_to_all=no_auth)
    engine = await app.ready()
    api = create_api(app, authenticate=open_access if no_auth else by_credentials)
    server, url = Server(api, listening), address(listening)
    stopped = asyncio.Event()

    def stop() -> None:
        server.drain()
        stopped.set()

    with on_stop_signals(stop):
        serving = asyncio.create_task(server.serve_until_stopped())
        call.out.say(f"The API is at {url}/api/v1, its reference at {url}/docs.")
        if not no_auth and not await engine.users.administered():
            link = await setup_url(engine, url)
            call.out.say(
                f"No administrator has signed in yet. Set up the first one within an hour: {link}"
            )
        try:
            if everything:
                async with app.running():
                    await stopped.wait()
            else:
                # Bulk operations and lost leases cannot wait for a worker: there may never be one.
                async with app.upkeep(scheduling=False):
                    await stopped.wait()
                    server.end()
                    await serving  # its requests use resources that close with this block
        finally:
            server.end()
            await serving
            await app.close()


def _run(main: Coroutine[Any, Any, None]) -> None:
    """Run in a faster event loop where the extra `uvloop` is installed."""
    from windlass import tasks

    try:
        from uvloop import new_event_loop
    except ImportError:
        tasks.run(main)
        return
    tasks.run(main, loop_factory=new_event_loop)
