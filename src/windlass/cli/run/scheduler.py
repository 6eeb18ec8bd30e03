"""`windlass scheduler`: fires schedules and does upkeep, without running jobs."""

import asyncio
import sys
from typing import TYPE_CHECKING

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
        "windlass scheduler shop.jobs",
        "windlass scheduler --once               # what is due now, then exit",
    ],
)
@click.argument("modules", nargs=-1, metavar="[MODULE]...")
@click.option("--once", is_flag=True, help="Run one round and exit.")
@with_call
def scheduler(call: Invocation, modules: tuple[str, ...], once: bool) -> int:
    """Fire schedules, match events and run upkeep, without running jobs.

    Any number may run, with or without workers: a due time creates one job. It works from the rows
    in the database; with MODULEs, it registers what they declare first. With the setting
    scheduler.enabled off, it fires no schedules.
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
    apps = load_apps(names) if names else [Windlass(settings=call.settings)]
    for app in apps:
        app.telemetry = telemetry()
        if call.flags.db:
            app.use_database(call.flags.db)
        if not app.settings.scheduler.enabled:
            call.out.say("scheduler.enabled is off: only upkeep is done, no schedule is fired.")
    asyncio.run(_once(apps) if once else _until_stopped(apps, call))
    return 0


async def _once(apps: "list[Windlass]") -> None:
    for app in apps:
        await app.upkeep_once()


async def _until_stopped(apps: "list[Windlass]", call: Invocation) -> None:
    from contextlib import AsyncExitStack

    stopped = asyncio.Event()
    with on_stop_signals(stopped.set):
        async with AsyncExitStack() as running:
            for app in apps:
                await running.enter_async_context(app.upkeep())
            call.out.say("Scheduling.")
            await stopped.wait()
