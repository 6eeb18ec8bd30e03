"""Handlers that write to the ledger, and run until a gate of the journey opens."""

import asyncio
import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.support.processes.ledger import GATES, LEDGER, note
from tests.support.wait import until
from windlass import Backoff, JobContext, Stopped, Windlass

wl = Windlass()

_AT_ONCE = Backoff(kind="none")


@wl.job("quick", backoff=_AT_ONCE)
async def quick(ctx: JobContext, number: int = 0, seconds: float = 0) -> int:
    await asyncio.sleep(seconds)
    note("done", job=ctx.job.id, fence=ctx.fence, number=number)
    return number


@wl.job("async", backoff=_AT_ONCE)
async def in_loop(ctx: JobContext, gate: str = "gate") -> str:
    _started(ctx)
    try:
        await until(lambda: not _closed(gate), within=300)
    except asyncio.CancelledError:
        note("stopped", job=ctx.job.id, fence=ctx.fence, why=ctx.stopping)
        raise
    return _done(ctx)


@wl.job("thread", backoff=_AT_ONCE)
def in_thread(ctx: JobContext, gate: str = "gate") -> str:
    return _until_stopped(ctx, gate)


@wl.job("process", isolation="process", backoff=_AT_ONCE)
def in_process(ctx: JobContext, gate: str = "gate") -> str:
    return _until_stopped(ctx, gate)


@wl.job("deaf", backoff=_AT_ONCE)
def deaf(ctx: JobContext, gate: str = "gate") -> str:
    """Blocks a thread, and never asks whether it should stop."""
    _started(ctx)
    while _closed(gate):
        time.sleep(0.02)
    return _done(ctx)


@wl.job("blocking", backoff=_AT_ONCE)
async def blocking(ctx: JobContext, gate: str = "gate") -> str:
    """Blocks the worker's event loop."""
    return deaf.handler.call(ctx, gate)


@wl.job("family", isolation="process", backoff=_AT_ONCE)
def family(ctx: JobContext, gate: str = "gate") -> None:
    """Starts processes of every kind: a child, one in a session of its own, and an orphan."""
    child = subprocess.Popen(["sleep", "300"])
    apart = subprocess.Popen(["sleep", "300"], start_new_session=True)
    # The shell ends at once, and what it started has lost its parent.
    orphan = subprocess.run(
        ["sh", "-c", "setsid sleep 300 >/dev/null 2>&1 & echo $!"],
        stdout=subprocess.PIPE,
        check=True,
    )
    pids = [os.getpid(), os.getppid(), child.pid, apart.pid, int(orphan.stdout)]
    _started(ctx, pids=pids)
    while _closed(gate):
        time.sleep(0.02)


tree = wl.command(
    "tree",
    [sys.executable, "-m", "tests.journeys.programs.process_tree", "{gate}"],
    payload_schema={"properties": {"gate": {"type": "string"}}, "required": ["gate"]},
    env=["PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX", LEDGER, GATES],
    grace="1s",
    backoff=_AT_ONCE,
)


@wl.job("crash_in_process", isolation="process", backoff=_AT_ONCE)
def crash_in_process(ctx: JobContext) -> None:
    _started(ctx)
    ctypes.string_at(0)


@wl.job("crash", max_attempts=10, backoff=_AT_ONCE)
def crash(ctx: JobContext) -> None:
    """Takes the worker down with it."""
    _started(ctx)
    ctypes.string_at(0)


def _started(ctx: JobContext, **about: object) -> None:
    note("started", job=ctx.job.id, fence=ctx.fence, attempt=ctx.job.attempt, **about)


def _until_stopped(ctx: JobContext, gate: str) -> str:
    _started(ctx)
    try:
        while _closed(gate):
            ctx.checkpoint()
            time.sleep(0.02)
    except Stopped as stopped:
        note("stopped", job=ctx.job.id, fence=ctx.fence, why=stopped.because)
        raise
    return _done(ctx)


def _closed(gate: str) -> bool:
    return not Path(os.environ[GATES], gate).exists()


def _done(ctx: JobContext) -> str:
    note("done", job=ctx.job.id, fence=ctx.fence)
    return "done"
