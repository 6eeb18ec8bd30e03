"""PgQueuer at its best settings: `pgqueuer_side.py VERB URL …` prints its figures as JSON."""

import asyncio
import json
import sys
import time
from statistics import median, quantiles

import asyncpg
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.qm import QueueManager
from pgqueuer.queries import Queries

PAYLOAD = json.dumps({"text": "x" * 80}).encode()


async def install(url: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()
    return {}


async def fill(url: str, jobs: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    count, chunk = int(jobs), 1000
    began = time.perf_counter()
    for _n in range(0, count, chunk):
        await queries.enqueue(["noop"] * chunk, [PAYLOAD] * chunk, [0] * chunk)
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


async def enqueue_single(url: str, jobs: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    began = time.perf_counter()
    for _n in range(int(jobs)):
        await queries.enqueue("noop", PAYLOAD)
    figure = int(jobs) / (time.perf_counter() - began)
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


def main() -> None:
    verb, url, *rest = sys.argv[1:]
    verbs = {
        "install": install,
        "fill": fill,
        "drain": drain,
        "enqueue_single": enqueue_single,
        "pickup": pickup,
    }
    print(json.dumps(uvloop.run(verbs[verb](url, *rest))))


if __name__ == "__main__":
    main()
