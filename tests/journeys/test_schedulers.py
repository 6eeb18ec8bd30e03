"""Schedulers that are killed at random: no due time is missed, none is fired twice; nor is an event."""

import asyncio
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.wait import until
from windlass import every

SCHEDULES, EVENTS, PROCESSES, SECONDS = 1000, 40, 4, 8.0
INTERVAL = timedelta(seconds=4)


@pytest.mark.timeout(400)  # many processes, and every record is read at the end
async def test_each_due_time_and_event_creates_one_job_although_processes_die(journey):
    wl = journey.wl

    @wl.job
    def beat() -> None: ...

    @wl.job
    def heard(n: int) -> None: ...

    about = {"definition": "beat", "schedule": every(INTERVAL), "misfire": "all"}
    for some in range(0, SCHEDULES, 50):
        await asyncio.gather(
            *(wl.schedules.create(f"beat {n}", **about) for n in range(some, some + 50))
        )
    await wl.triggers.create(
        "heard", definition="heard", event="said", payload={"n": "{{event.n}}"}
    )
    schedulers = [journey.processes.start("scheduler", settings={}) for _ in range(PROCESSES)]
    await until(lambda: all(s.output.exists() for s in schedulers))

    emitting = asyncio.create_task(emit(wl))
    until_when = asyncio.get_running_loop().time() + SECONDS
    while asyncio.get_running_loop().time() < until_when:
        await asyncio.sleep(random.uniform(0.2, 0.6))
        victim = schedulers.pop(random.randrange(len(schedulers)))
        victim.kill()
        schedulers.append(journey.processes.start("scheduler", settings={}))
    await emitting
    end = datetime.now(UTC)
    await until(lambda: caught_up(wl, end), within=120, waiting_for="the schedulers to catch up")
    for scheduler in schedulers:
        scheduler.kill()

    times, numbers = await made(wl)
    assert len(times) == SCHEDULES
    for due in times.values():
        steps = {b - a for a, b in zip(sorted(due), sorted(due)[1:], strict=False)}
        assert steps == {INTERVAL}
    assert sorted(numbers) == list(range(EVENTS))


async def emit(wl) -> None:
    for n in range(EVENTS):
        await wl.emit("said", {"n": n})
        await asyncio.sleep(SECONDS / EVENTS / 2)


async def caught_up(wl, end: datetime) -> bool:
    rows = await wl.schedules.list()
    return all(row.next_run_at is not None and row.next_run_at > end for row in rows)


async def made(wl):
    times, numbers, after = defaultdict(list), [], None
    while True:
        page = await wl.jobs.list(after=after, limit=500)
        for job in page.jobs:
            if job.definition == "beat":
                times[job.trigger_id].append(job.trigger_due_at)
            else:
                numbers.append((await wl.jobs.get(job.id)).payload["n"])
        if page.next is None:
            return times, numbers
        after = page.next
