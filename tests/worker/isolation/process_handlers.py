"""Handlers that run in processes of their own."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.worker.bad_handlers import DEEDS, ERRORS, RESULTS
from windlass import JobContext, Permanent, Settings, Windlass

far = Windlass("sqlite:///never-opened.db", settings=Settings())


@far.job("tell", isolation="process")
def tell(ctx: JobContext) -> dict[str, object]:
    ctx.log.info("hello", number=1)
    ctx.log.warning("x" * 5_000_000, blob="y" * 5_000_000, thing=object(), nan=float("nan"))
    ctx.progress(0.5, "half")
    ctx.warn("one thing was left out")
    return {"job": str(ctx.job.id), "fence": ctx.fence, "tags": {"a"}, "text": "ü" * 1000}


@far.job("fail", isolation="process", permanent=[LookupError])
def fail(how: str) -> None:
    if how == "huge":
        raise ValueError("x" * 5_000_000)
    if how == "permanent":
        raise Permanent("never")
    if how == "listed":
        raise LookupError("listed")
    if how == "exit":
        os._exit(7)
    if how == "supervisor":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit("sys.exit")


@far.job("snooze", isolation="process")
def snooze(ctx: JobContext) -> None:
    ctx.snooze("90s")


@far.job("wait", isolation="process")
async def wait(ctx: JobContext, path: str) -> None:
    _leave_word(path)
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        ctx.log.info("told to stop")
        raise


def _leave_word(path: str) -> None:
    Path(path).write_text(str(os.getpid()))


@far.job("deaf", isolation="process", grace=0)
def deaf(ctx: JobContext, path: str) -> None:
    """Would tell that it was asked to stop, had it any time to."""
    _leave_word(path)
    while not ctx.stopping:
        time.sleep(0.01)
    time.sleep(2)
    ctx.log.info("told to stop")


@far.job("linger", isolation="process")
def linger() -> str:
    """Leaves a thread behind that would keep the process alive."""
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"


@far.job("print", isolation="process")
def say(path: str) -> None:
    # Buffered, and written only when somebody flushes.
    sys.stdout = open(path, "w")  # noqa: SIM115  the process's own
    print("printed")
    logging.getLogger("x").debug("not shown")


@far.job("descriptors", isolation="process")
def descriptors() -> list[str]:
    """What is open beyond input, output and errors."""
    found = []
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            found.append((int(name), os.readlink(f"/proc/self/fd/{name}")))
        except OSError:  # the listing itself
            continue
    return [place.partition(":")[0] for number, place in found if number > 2]


@far.job("bad error", isolation="process")
def bad_error(name: str) -> None:
    raise ERRORS[name]()


@far.job("bad result", isolation="process")
def bad_result(name: str) -> Any:
    return RESULTS[name]()


@far.job("bad deed", isolation="process")
def bad_deed(ctx: JobContext, name: str) -> None:
    act, _ = DEEDS[name]
    act(ctx)


@far.job("close everything", isolation="process")
def close_everything() -> None:
    os.closerange(1, 1000)
