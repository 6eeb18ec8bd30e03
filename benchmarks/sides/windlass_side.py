"""Windlass in a process of its own: `windlass_side.py VERB URL …` prints its figures as JSON."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles

from benchmarks.sides.windlass_app import PAYLOAD, Verb, app, declare_other, main, ready, working
from windlass import Windlass
from windlass.storage.migrate import migrate
from windlass.storage.storage import open_storage


async def install(url: str) -> dict[str, float]:
    """Make the tables, and the definition known."""
    storage = open_storage(url)
    await migrate(storage)
    await storage.close()
    async with app(url)[0]:
        return {}


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
    return await _drained(wl, ran, int(jobs), int(slots))


async def begin(url: str, jobs: str) -> dict[str, float]:
    """Run that many jobs of a backlog that is longer."""
    wl, _, ran = app(url)
    await wl.ready()
    return await _drained(wl, ran, int(jobs), 500, all_ended=False)


async def wave(url: str, jobs: str, slots: str, other: str) -> dict[str, float]:
    """Enqueue that many jobs, then run them, as many as can be in ten seconds.

    `other` says why others are not run, or that these are limited by so many keys.
    """
    wl, noop, ran = app(url)
    makers = [noop]
    if other in ("disabled", "limited"):
        declare_other(wl, other)
    if other.startswith("keys"):
        await wl.ready()
        await wl.definitions.edit("noop", limit_key="args.text", max_per_key=10)
        makers = [noop.options(limit_key=f"key {n}") for n in range(int(other.split()[1]))]
    await wl.enqueue_many([makers[n % len(makers)].make(text=PAYLOAD) for n in range(int(jobs))])
    return await _drained(wl, ran, int(jobs), int(slots), most_seconds=10)


async def _drained(
    wl: Windlass,
    ran: dict[str, int],
    jobs: int,
    slots: int,
    *,
    all_ended: bool = True,
    most_seconds: float = 600,
) -> dict[str, float]:
    cpu, began = time.process_time(), time.perf_counter()
    async with working(wl, slots) as worker:
        while ran["jobs"] < jobs or (all_ended and worker.held):
            if time.perf_counter() > began + most_seconds:
                break
            await asyncio.sleep(0.005)  # an event would be set per job
        jobs = max(1, ran["jobs"])
        seconds = time.perf_counter() - began
        used = time.process_time() - cpu
    return {"per_second": jobs / seconds, "cpu_us": used / jobs * 1e6}


async def share(url: str, slots: str = "500") -> dict[str, float]:
    """Run what there is beside other processes, from the word to go until nothing is left."""
    wl, _, ran = app(url)
    await wl.ready()
    await ready()
    began = ended = time.time()
    async with working(wl, int(slots)) as worker:
        seen = 0
        while time.time() < ended + 1:
            await asyncio.sleep(0.005)
            if ran["jobs"] > seen or worker.held:
                seen, ended = ran["jobs"], time.time()
    return {"jobs": ran["jobs"], "began": began, "ended": ended}


async def pickup(url: str, jobs: str) -> dict[str, float]:
    """From just before enqueue to the handler's first line, an idle worker in this process."""
    wl = Windlass(url)
    started: asyncio.Queue[float] = asyncio.Queue()

    @wl.job(timeout="60s")
    async def mark(text: str) -> None:
        started.put_nowait(time.perf_counter())

    waits = []
    async with working(wl, 10):
        await mark.enqueue(text=PAYLOAD)
        await started.get()
        for _n in range(int(jobs)):
            await asyncio.sleep(0.02)
            began = time.perf_counter()
            await mark.enqueue(text=PAYLOAD)
            waits.append((await started.get() - began) * 1000)
    return {"p50_ms": median(waits), "p99_ms": quantiles(waits, n=100)[98]}


async def idle(url: str, seconds: str, settle: str = "2") -> dict[str, float]:
    """What a worker with nothing to do uses."""
    wl, _, _ = app(url)
    async with working(wl, 10):
        await asyncio.sleep(float(settle))
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.sleep(float(seconds))
        used = (time.process_time() - cpu) / (time.perf_counter() - began)
        return {"cpu_percent": used * 100, "pss_mb": _pss_kb() / 1024}


async def listen(url: str, workers: str) -> dict[str, float]:
    """Workers of a queue in which nothing comes, until the input ends."""
    async with AsyncExitStack() as stack:
        for _n in range(int(workers)):
            await stack.enter_async_context(working(app(url)[0], 10, ["idle"]))
        await ready()
    return {}


def _pss_kb() -> int:
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


VERBS: Mapping[str, Verb] = {
    "install": install,
    "fill": fill,
    "drain": drain,
    "begin": begin,
    "wave": wave,
    "share": share,
    "pickup": pickup,
    "idle": idle,
    "listen": listen,
}

if __name__ == "__main__":
    main(VERBS)
