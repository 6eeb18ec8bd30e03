"""PgQueuer at its best settings: `pgqueuer_side.py VERB URL …` prints its figures as JSON.

Runs in the peers' own environment: batches of 500, uvloop, asyncpg.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import asyncpg
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

PAYLOAD = json.dumps({"text": "x" * 80}).encode()
CHUNK = 1000


async def install(url: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()
    return {}


async def fill(url: str, jobs: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    count = int(jobs)
    began = time.perf_counter()
    for first in range(0, count, CHUNK):
        n = min(CHUNK, count - first)
        await queries.enqueue(["noop"] * n, [PAYLOAD] * n, [0] * n)
    figure = count / (time.perf_counter() - began)
    await connection.close()
    return {"per_second": figure}


async def drain(url: str, jobs: str, batch: str = "500") -> dict[str, float]:
    connection = await asyncpg.connect(url)
    manager = QueueManager(Queries(AsyncpgDriver(connection)))
    count, ran = int(jobs), 0

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:
        nonlocal ran
        ran += 1
        if ran == count:
            manager.shutdown.set()

    cpu, began = time.process_time(), time.perf_counter()
    await manager.run(batch_size=int(batch))
    seconds = time.perf_counter() - began
    used = time.process_time() - cpu
    await connection.close()
    return {"per_second": count / seconds, "cpu_us": used / count * 1e6}


async def share(url: str, batch: str = "500") -> dict[str, float]:
    """Run what there is beside other processes, from the word to go until nothing is left."""
    connection = await asyncpg.connect(url)
    manager = QueueManager(Queries(AsyncpgDriver(connection)))
    ran, ended = 0, 0.0

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None:
        nonlocal ran, ended
        ran, ended = ran + 1, time.time()

    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began = ended = time.time()
    running = asyncio.create_task(manager.run(batch_size=int(batch)))
    while time.time() < ended + 1:  # noqa: ASYNC110  an event would be set per job
        await asyncio.sleep(0.1)
    manager.shutdown.set()
    await running
    await connection.close()
    return {"jobs": ran, "began": began, "ended": ended}


async def enqueue_single(url: str, seconds: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    await queries.enqueue("noop", PAYLOAD)
    began, done = time.perf_counter(), 0
    while time.perf_counter() < began + float(seconds):
        await queries.enqueue("noop", PAYLOAD)
        done += 1
    figure = done / (time.perf_counter() - began)
    await connection.close()
    return {"per_second": figure}


async def pickup(url: str, jobs: str) -> dict[str, float]:
    connection, other = await asyncpg.connect(url), await asyncpg.connect(url)
    manager, queries = (
        QueueManager(Queries(AsyncpgDriver(connection))),
        Queries(AsyncpgDriver(other)),
    )
    started: asyncio.Queue[float] = asyncio.Queue()

    @manager.entrypoint("mark")
    async def mark(job: Job) -> None:
        started.put_nowait(time.perf_counter())

    running = asyncio.create_task(manager.run(batch_size=10))
    await asyncio.sleep(1)
    waits = []
    for _n in range(int(jobs)):
        await asyncio.sleep(0.02)
        began = time.perf_counter()
        await queries.enqueue("mark", PAYLOAD)
        waits.append((await started.get() - began) * 1000)
    manager.shutdown.set()
    await running
    await connection.close()
    await other.close()
    return {"p50_ms": median(waits), "p99_ms": quantiles(waits, n=100)[98]}


async def idle(url: str, seconds: str, settle: str = "2") -> dict[str, float]:
    connection = await asyncpg.connect(url)
    manager = QueueManager(Queries(AsyncpgDriver(connection)))

    @manager.entrypoint("noop")
    async def noop(job: Job) -> None: ...

    running = asyncio.create_task(manager.run(batch_size=10))
    await asyncio.sleep(float(settle))
    cpu, began = time.process_time(), time.perf_counter()
    await asyncio.sleep(float(seconds))
    used = (time.process_time() - cpu) / (time.perf_counter() - began)
    memory = _pss_kb()
    manager.shutdown.set()
    await running
    await connection.close()
    return {"cpu_percent": used * 100, "pss_mb": memory / 1024}


def _pss_kb() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> None:
    verb, url, *rest = sys.argv[1:]
    verbs: dict[str, Callable[..., Coroutine[Any, Any, dict[str, float]]]] = {
        "install": install,
        "fill": fill,
        "drain": drain,
        "share": share,
        "enqueue_single": enqueue_single,
        "pickup": pickup,
        "idle": idle,
    }
    print(json.dumps(uvloop.run(verbs[verb](url, *rest))))


if __name__ == "__main__":
    main()
