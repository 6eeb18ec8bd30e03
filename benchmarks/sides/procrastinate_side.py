"""Procrastinate at its best settings: `procrastinate_side.py VERB URL …` prints JSON."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from statistics import median, quantiles
from typing import Any

import procrastinate
import uvloop

TEXT = "x" * 80


def app(url: str) -> procrastinate.App:
    return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))


async def install(url: str) -> dict[str, float]:
    async with app(url).open_async() as opened:
        await opened.schema_manager.apply_schema_async()
    return {}


async def pickup(url: str, jobs: str) -> dict[str, float]:
    peer = app(url)
    started: asyncio.Queue[float] = asyncio.Queue()

    @peer.task(name="mark")
    async def mark(text: str) -> None:
        started.put_nowait(time.perf_counter())

    waits = []
    async with peer.open_async():
        worker = asyncio.create_task(
            peer.run_worker_async(concurrency=10, install_signal_handlers=False)
        )
        await asyncio.sleep(1)
        for _n in range(int(jobs)):
            await asyncio.sleep(0.02)
            began = time.perf_counter()
            await mark.defer_async(text=TEXT)
            waits.append((await started.get() - began) * 1000)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    return {"p50_ms": median(waits), "p99_ms": quantiles(waits, n=100)[98]}


def main() -> None:
    verb, url, *rest = sys.argv[1:]
    verbs: dict[str, Callable[..., Coroutine[Any, Any, dict[str, float]]]] = {
        "install": install,
        "pickup": pickup,
    }
    print(json.dumps(uvloop.run(verbs[verb](url, *rest))))


if __name__ == "__main__":
    main()
