"""Windlass in a process of its own: `windlass_side.py VERB URL …` prints its figures as JSON."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from windlass import Windlass
from windlass.storage.migrate import migrate_now

PAYLOAD = "x" * 80


def app(url: str) -> tuple[Windlass, Any, dict[str, int]]:
    """An app with one no-op job that counts its runs."""
    wl = Windlass(url)
    ran = {"jobs": 0}

    @wl.job(timeout="60s")
    async def noop(text: str) -> None:
        ran["jobs"] += 1

    return wl, noop, ran


async def fill(url: str, jobs: str, tenants: str = "1", delay: str = "") -> dict[str, float]:
    """Enqueue jobs in bulk; with several tenants the first gets 99 of 100."""
    wl, noop, _ = app(url)
    async with wl:
        names = ["default", *[f"t{n:04}" for n in range(1, int(tenants))]]
        for name in names[1:]:
            await wl.tenants.create(name)
        count = int(jobs)
        made = []
        for n in range(count):
            tenant = names[0] if n % 100 else names[(n // 100) % len(names)]
            options = {"tenant": tenant, **({"delay": delay} if delay else {})}
            made.append(noop.options(**options).make(text=PAYLOAD))
        began = time.perf_counter()
        await wl.enqueue_many(made)
        return {"per_second": count / (time.perf_counter() - began)}


async def drain(url: str, jobs: str, slots: str = "500") -> dict[str, float]:
    """Run that many jobs, the last one's end recorded."""
    wl, _, ran = app(url)
    await wl.ready()
    count = int(jobs)
    cpu, began = time.process_time(), time.perf_counter()
    async with wl.running(concurrency=int(slots)) as worker:
        assert worker is not None
        while ran["jobs"] < count or worker.held:  # noqa: ASYNC110  an event would be set per job
            await asyncio.sleep(0.005)
        seconds = time.perf_counter() - began
        used = time.process_time() - cpu
    return {"per_second": count / seconds, "cpu_us": used / count * 1e6}


async def drain_for(url: str, seconds: str, slots: str = "500") -> dict[str, float]:
    """How many jobs a second run in that time, the start left out."""
    wl, _, ran = app(url)
    await wl.ready()
    async with wl.running(concurrency=int(slots)):
        while not ran["jobs"]:  # noqa: ASYNC110  as above
            await asyncio.sleep(0.001)
        before, began = ran["jobs"], time.perf_counter()
        await asyncio.sleep(float(seconds))
        figure = (ran["jobs"] - before) / (time.perf_counter() - began)
    return {"per_second": figure}


async def enqueue_single(url: str, jobs: str) -> dict[str, float]:
    """One awaited enqueue after the other."""
    wl, noop, _ = app(url)
    async with wl:
        await noop.enqueue(text=PAYLOAD)
        count = int(jobs)
        began = time.perf_counter()
        for _n in range(count):
            await noop.enqueue(text=PAYLOAD)
        return {"per_second": count / (time.perf_counter() - began)}


async def enqueue_concurrent(url: str, jobs: str, callers: str = "200") -> dict[str, float]:
    """Many callers, each awaiting its own enqueues."""
    wl, noop, _ = app(url)
    async with wl:
        await noop.enqueue(text=PAYLOAD)
        each = int(jobs) // int(callers)

        async def caller() -> None:
            for _n in range(each):
                await noop.enqueue(text=PAYLOAD)

        began = time.perf_counter()
        await asyncio.gather(*[caller() for _n in range(int(callers))])
        return {"per_second": each * int(callers) / (time.perf_counter() - began)}


async def enqueue_bulk(url: str, jobs: str) -> dict[str, float]:
    """One call with many jobs, making them included."""
    wl, noop, _ = app(url)
    async with wl:
        await noop.enqueue(text=PAYLOAD)
        began = time.perf_counter()
        made = [noop.make(text=PAYLOAD) for _n in range(int(jobs))]
        await wl.enqueue_many(made)
        return {"per_second": int(jobs) / (time.perf_counter() - began)}


async def pickup(url: str, jobs: str) -> dict[str, float]:
    """From just before enqueue to the handler's first line, an idle worker in this process."""
    wl = Windlass(url)
    started: asyncio.Queue[float] = asyncio.Queue()

    @wl.job(timeout="60s")
    async def mark(text: str) -> None:
        started.put_nowait(time.perf_counter())

    waits = []
    async with wl.running(concurrency=10):
        await mark.enqueue(text=PAYLOAD)
        await started.get()
        for _n in range(int(jobs)):
            await asyncio.sleep(0.02)
            began = time.perf_counter()
            await mark.enqueue(text=PAYLOAD)
            waits.append((await started.get() - began) * 1000)
    return {"p50_ms": median(waits), "p99_ms": quantiles(waits, n=100)[98]}


async def idle(url: str, seconds: str) -> dict[str, float]:
    """What a worker with nothing to do uses."""
    wl, _, _ = app(url)
    async with wl.running(concurrency=10):
        await asyncio.sleep(2)
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.sleep(float(seconds))
        used = (time.process_time() - cpu) / (time.perf_counter() - began)
    return {"cpu_percent": used * 100, "pss_mb": _pss_kb() / 1024}


def _pss_kb() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


async def claim(url: str, rounds: str) -> dict[str, float]:
    """How long one claim of a hundred takes, survey included; each is handed back."""
    from windlass.core import outcome
    from windlass.core.models import Held

    wl, noop, _ = app(url)
    engine = await wl.ready()
    leases = engine.leases()
    took = []
    for _n in range(int(rounds)):
        began = time.perf_counter()
        claimed = await leases.claim(
            "bench",
            100,
            queues=None,
            known=[noop.key],
            lease_time=timedelta(seconds=30),  # type: ignore[arg-type]  # a worker's id
        )
        took.append((time.perf_counter() - began) * 1000)
        await leases.finish([outcome.released(Held(x.job_id, x.token)) for x in claimed.leases])
        await engine.storage.promote()
    await wl.close()
    return {"p50_ms": median(took)}


def main() -> None:
    verb, url, *rest = sys.argv[1:]
    verbs: dict[str, Callable[..., Awaitable[dict[str, float]]]] = {
        "fill": fill,
        "drain": drain,
        "drain_for": drain_for,
        "enqueue_single": enqueue_single,
        "enqueue_concurrent": enqueue_concurrent,
        "enqueue_bulk": enqueue_bulk,
        "pickup": pickup,
        "idle": idle,
        "claim": claim,
    }
    if verb == "migrate":
        migrate_now(url)
        figures: dict[str, float] = {}
    else:
        figures = asyncio.run(verbs[verb](url, *rest))  # type: ignore[arg-type]  # each is a coroutine function
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
