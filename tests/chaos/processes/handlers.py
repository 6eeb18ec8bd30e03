"""The handlers that the workers of a chaos run load. Each writes its start, its effect and its end
into the ledger; some of them misbehave."""

import asyncio
import ctypes
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NoReturn

from tests.chaos.processes.ledger_lines import RELEASE, digest, note
from windlass import Backoff, JobContext, Windlass

wl = Windlass()

#: Of a handler that does its work: whatever the run does to its workers, attempts are left.
_MANY: Any = {"max_attempts": 30, "backoff": Backoff(kind="none")}
_TWO: Any = {"max_attempts": 2, "backoff": Backoff(kind="none")}

Result = dict[str, int]


@wl.lifespan
@asynccontextmanager
async def announce() -> AsyncIterator[None]:
    note("ready", clock=time.time(), release=os.environ.get(RELEASE, "1"))
    yield


@contextmanager
def recorded(ctx: JobContext, number: int, text: str = "") -> Iterator[None]:
    """Write the start and the end of a run, whatever happens in it."""
    run = {"job": ctx.job.id, "fence": ctx.fence, "definition": ctx.job.definition}
    note("started", attempt=ctx.job.attempt, digest=digest(number, text), **run)
    how = "raised"
    try:
        yield
        note("effect", **run)
        how = "returned"
    except asyncio.CancelledError:
        how = "stopped"
        raise
    finally:
        note("ended", how=how, **run)


def result(ctx: JobContext, number: int) -> Result:
    """What shows whose result was recorded."""
    return {"fence": ctx.fence, "number": number}


@wl.job("quick", **_MANY)
async def quick(ctx: JobContext, number: int, text: str = "") -> Result:
    with recorded(ctx, number, text):
        return result(ctx, number)


@wl.job("lasting", **_MANY)
async def lasting(ctx: JobContext, number: int, text: str = "", seconds: float = 0.5) -> Result:
    with recorded(ctx, number, text):
        await asyncio.sleep(seconds)
        return result(ctx, number)


@wl.job("threaded", **_MANY)
def threaded(ctx: JobContext, number: int, text: str = "", seconds: float = 0.1) -> Result:
    with recorded(ctx, number, text):
        time.sleep(seconds)
        ctx.progress(0.5, "half")
        return result(ctx, number)


@wl.job("separate", isolation="process", **_MANY)
def separate(ctx: JobContext, number: int, text: str = "") -> Result:
    with recorded(ctx, number, text):
        return result(ctx, number)


@wl.job("limited", max_concurrency=2, **_MANY)
async def limited(ctx: JobContext, number: int, text: str = "") -> Result:
    with recorded(ctx, number, text):
        await asyncio.sleep(0.02)
        return result(ctx, number)


@wl.job("deduped", **_MANY)
async def deduped(ctx: JobContext, number: int, text: str = "") -> Result:
    with recorded(ctx, number, text):
        return result(ctx, number)


@wl.job("flaky", **_TWO)
async def flaky(ctx: JobContext, number: int, text: str = "") -> Result:
    with recorded(ctx, number, text):
        if (number + ctx.job.attempt) % 3:
            raise ValueError("by chance")
        return result(ctx, number)


@wl.job("beat", **_MANY)
async def beat(ctx: JobContext) -> Result:
    with recorded(ctx, 0):
        return result(ctx, 0)


@wl.job("heard", **_MANY)
async def heard(ctx: JobContext, number: int) -> Result:
    with recorded(ctx, number):
        return result(ctx, number)


if os.environ.get(RELEASE) == "2":

    @wl.job("newcomer", **_MANY)
    async def newcomer(ctx: JobContext, number: int, text: str = "") -> Result:
        with recorded(ctx, number, text):
            return result(ctx, number)


@wl.job("chatty", **_MANY)
def chatty(ctx: JobContext, number: int, text: str = "") -> Result:
    """Logs more than the buffer holds, from a thread."""
    with recorded(ctx, number, text):
        for line in range(150):
            ctx.log.info("a line", number=line)
        return result(ctx, number)


@wl.job("blocking", **_MANY)
async def blocking(ctx: JobContext, number: int, text: str = "", seconds: float = 1.0) -> Result:
    """Holds up the event loop for longer than a lease lasts."""
    with recorded(ctx, number, text):
        time.sleep(seconds)  # noqa: ASYNC251  this is what it is for
        return result(ctx, number)


@wl.job("poison", **_MANY)
def poison(ctx: JobContext, number: int, text: str = "") -> NoReturn:
    """Takes its worker down."""
    with recorded(ctx, number, text):
        ctypes.string_at(0)
        raise AssertionError("it survived")


@wl.job("segfault", isolation="process", **_TWO)
def segfault(ctx: JobContext, number: int, text: str = "") -> NoReturn:
    """Takes down the process it has to itself."""
    with recorded(ctx, number, text):
        ctypes.string_at(0)
        raise AssertionError("it survived")


@wl.job("forking", isolation="process", **_MANY)
def forking(ctx: JobContext, number: int, text: str = "") -> Result:
    """Leaves a child behind."""
    with recorded(ctx, number, text):
        if os.fork() == 0:
            time.sleep(3600)
            os._exit(0)
        return result(ctx, number)


@wl.job("leaking", isolation="process", memory_limit_mb=200, **_TWO)
def leaking(ctx: JobContext, number: int, text: str = "") -> NoReturn:
    """Takes memory until there is none for it."""
    with recorded(ctx, number, text):
        held = [bytearray(4 << 20) for _ in range(1000)]
        raise AssertionError(f"it survived with {len(held)} pieces")


@wl.job("exiting", **_TWO)
async def exiting(ctx: JobContext, number: int, text: str = "") -> NoReturn:
    with recorded(ctx, number, text):
        raise SystemExit("a handler is no program")


class Unspeakable(Exception):
    """An error that ends the program of whoever prints it."""

    def __str__(self) -> str:
        raise SystemExit(3)


@wl.job("unspeakable", **_TWO)
async def unspeakable(ctx: JobContext, number: int, text: str = "") -> NoReturn:
    with recorded(ctx, number, text):
        raise Unspeakable


@wl.job("unstorable", **_TWO)
async def unstorable(ctx: JobContext, number: int, text: str = "") -> Any:
    with recorded(ctx, number, text):
        return [{"no JSON": {object()}}, {"number": float("nan")}][number % 2]


@wl.job("broken text", **_TWO)
async def broken_text(ctx: JobContext, number: int, text: str = "") -> str:
    with recorded(ctx, number, text):
        return "\ud800\x00"
