"""Shared by the files of the Windlass side."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from windlass import Windlass
from windlass.cli.run.run_workers import WorkerFlags, WorkerGroup, work
from windlass.worker.worker import Worker

PAYLOAD = "x" * 80

Verb = Callable[..., Coroutine[Any, Any, Mapping[str, float]]]


def app(url: str) -> tuple[Windlass, Any, dict[str, int]]:
    """An app with one no-op job that counts its runs."""
    wl = Windlass(url)
    ran = {"jobs": 0}

    @wl.job(timeout="60s")
    async def noop(text: str) -> None:
        ran["jobs"] += 1

    return wl, noop, ran


def declare_other(wl: Windlass, why: str) -> Any:
    """A second job that is not run: `disabled`, `limited` to one at a time, in a `paused` queue, or
    `unknown`."""

    async def other(text: str) -> None: ...

    if why == "limited":
        return wl.job("other", max_concurrency=1)(other)
    return wl.job("other", queue="paused" if why == "paused" else "default")(other)


@asynccontextmanager
async def working(
    wl: Windlass, slots: int, queues: Sequence[str] | None = None
) -> AsyncIterator[Worker]:
    """A worker as `windlass worker` runs one, in this process while the block lasts."""
    started = asyncio.Event()
    ours = WorkerGroup(said=lambda text: print(text, file=sys.stderr), ready=started.set)
    run = asyncio.create_task(work([wl], WorkerFlags(concurrency=slots, queues=queues), ours))
    run.add_done_callback(lambda _: started.set())
    await started.wait()
    if run.done():
        run.result()
    try:
        yield ours.workers[0]
    finally:
        ours.stop()
        await run


def main(verbs: Mapping[str, Verb], run: Callable[..., Mapping[str, float]] = asyncio.run) -> None:
    """Run the verb on the command line, in the loop that `windlass worker` uses."""
    verb, *rest = sys.argv[1:]
    print(json.dumps(run(verbs[verb](*rest))))


async def ready() -> None:
    """Say that we are, and wait for the word to go or for the end of the input."""
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
