"""`windlass workers drain|resume|stop`: operators' orders to workers."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass import clock
from windlass.cli.framework.change_many import change_each, post_change
from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item
from windlass.errors import WorkerGone, WorkerNotFound

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client

#: Seconds between two polls of a worker.
_LOOK_SECONDS = 0.2


def _with_ids(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which workers, and change nothing.")
    return click.argument("workers", nargs=-1, required=True, metavar="WORKER...")(dry(command))


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass workers drain 8c1f42d7",
        "windlass workers drain web-2:411:8c1f42d7 --wait --timeout 10m",
    ],
)
@_with_ids
@click.option("--wait", is_flag=True, help="Wait until they run no jobs (--timeout).")
@with_call
def drain(call: Invocation, workers: Sequence[str], dry_run: bool, wait: bool) -> int:
    """Drain workers: they claim no more jobs, finish what runs, and stay.

    A worker gets the order at once where nudges reach it, else with its next heartbeat, after a
    third of its lease time. With --wait it exits with 9 if --timeout ran out first.
    """
    code = change_each(
        call,
        "workers",
        workers,
        post_change("workers", "drain"),
        doing="draining",
        show=lambda worker: _line(worker, "would take no more jobs" if dry_run else _NO_MORE),
        dry_run=dry_run,
    )
    return (
        _wait_for_all(call, workers, _is_idle) if wait and not dry_run and code == Exit.OK else code
    )


@click.command(
    cls=CommandWithCall,
    examples=["windlass workers resume 8c1f42d7", "windlass workers resume 8c1f42d7 --dry-run"],
)
@_with_ids
@with_call
def resume(call: Invocation, workers: Sequence[str], dry_run: bool) -> int:
    """Resume draining workers: they claim jobs again."""
    return change_each(
        call,
        "workers",
        workers,
        post_change("workers", "resume"),
        doing="resuming",
        show=lambda worker: _line(
            worker, "would take jobs again" if dry_run else "takes jobs again"
        ),
        dry_run=dry_run,
    )


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass workers stop 8c1f42d7",
        "windlass workers stop 8c1f42d7 --yes --wait --timeout 1m",
    ],
)
@_with_ids
@click.option("--wait", is_flag=True, help="Wait until they have ended (--timeout).")
@with_call
def stop(call: Invocation, workers: Sequence[str], dry_run: bool, wait: bool) -> int:
    """Stop workers, as SIGTERM does: running jobs may finish, others are handed back.

    The process of a `windlass worker` exits with 0 once nothing runs, or soon after
    worker.shutdown_timeout_seconds; a supervisor may start another, as `windlass dev` does. Inside
    `windlass serve --all` only the worker ends; the server continues without it. A stop cannot be
    undone. With --wait it exits with 9 if --timeout ran out first.
    """
    code = change_each(
        call,
        "workers",
        workers,
        post_change("workers", "stop"),
        doing="stopping",
        show=lambda worker: _line(worker, "would end" if dry_run else f"{_NO_MORE} and ends"),
        dry_run=dry_run,
        ask=True,
    )
    return (
        _wait_for_all(call, workers, _never) if wait and not dry_run and code == Exit.OK else code
    )


_NO_MORE = "takes no more jobs"


def _line(worker: Item, next: str) -> str:
    """A message: the worker's next action, and its number of running jobs at its last heartbeat."""
    running = worker["slots_used"]
    still = "nothing runs" if not running else f"{running} still run{'s' if running == 1 else ''}"
    return f"{worker['id']} {next}; {still}."


def _is_idle(worker: Item) -> bool:
    return worker["doing"] != "run" and not worker["slots_used"]


def _never(worker: Item) -> bool:
    """Never true: wait for a stopping worker until it is gone."""
    return False


def _wait_for_all(call: Invocation, workers: Sequence[str], is_done: Callable[[Item], bool]) -> int:
    """Wait until all are done or gone; returns the exit code."""
    import asyncio

    from windlass.core.durations import duration

    limit = call.flags.timeout
    seconds = duration(limit, option="timeout").total_seconds() if limit else None

    async def wait(api: "Client") -> int:
        until = None if seconds is None else clock.monotonic() + seconds
        for worker in workers:
            while (remaining := await _remaining_worker(api, worker, is_done)) is not None:
                if remaining["wanted"] == "run":
                    call.out.say(f"{remaining['id']} was resumed meanwhile.")
                    return Exit.CONFLICT
                if until is not None and clock.monotonic() >= until:
                    call.out.say(f"{_line(remaining, 'is not done yet')} It will keep running.")
                    return Exit.TIMED_OUT
                await asyncio.sleep(_LOOK_SECONDS)
        call.out.say("They run no jobs." if len(workers) > 1 else "It runs no jobs.")
        return Exit.OK

    return call.ask(wait, limited=False)


async def _remaining_worker(api: "Client", id: str, is_done: Callable[[Item], bool]) -> Item | None:
    """Return the worker while it still has to be waited for."""
    from windlass.cli.connect.api_client import path

    try:
        worker = await api.get(path("workers", id))
    except WorkerNotFound:  # the worker has ended
        return None
    if worker["liveness"] == "lost":
        raise WorkerGone(worker["id"])
    return None if is_done(worker) else worker
