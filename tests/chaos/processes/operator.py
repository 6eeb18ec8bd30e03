"""A program that acts as an operator until it is stopped: it cancels, retries, pauses, edits and
emits events. `python -m tests.chaos.processes.operator SEED`.

A line is written before a deed, since its answer may get lost, and one after it.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from random import Random

from tests.chaos.processes.definitions import DRIVERS_PRIORITY
from tests.chaos.processes.handlers import wl
from tests.chaos.processes.ledger_lines import note
from windlass import WindlassError

_UNTOUCHED = {"poison", "blocking"}


async def cancel(random: Random) -> bool:
    page = await wl.jobs.list(states=["queued", "running"], definition="lasting", limit=20)
    # The driver waits for its own jobs to start again.
    jobs = [job for job in page.jobs if job.priority > DRIVERS_PRIORITY]
    if not jobs:
        return False
    job = random.choice(jobs)
    note("canceling", synced=True, job=job.id)
    await wl.jobs.cancel(job.id, actor="chaos")
    return True


async def retry(random: Random) -> bool:
    page = await wl.jobs.list(states=["dead_letter", "canceled"], limit=50)
    jobs = [job for job in page.jobs if job.definition in ("flaky", "lasting")]
    if not jobs:
        return False
    job = random.choice(jobs)
    note("retrying", synced=True, job=job.id)
    await wl.jobs.retry(job.id, actor="chaos")
    return True


async def pause(random: Random) -> bool:
    await wl.queues.pause("default")
    try:
        await asyncio.sleep(0.2)
    finally:
        await _surely(lambda: wl.queues.resume("default"))
    return True


async def edit(random: Random) -> bool:
    page = await wl.jobs.list(states=["queued"], definition="quick", limit=20)
    if not page.jobs:
        return False
    await wl.jobs.update(random.choice(page.jobs).id, priority=random.randrange(50, 150))
    await wl.definitions.edit("quick", priority=random.randrange(90, 110))
    return True


async def emit(random: Random) -> bool:
    # Not by the seed: an operator that was started anew must not say the same again.
    number = time.time_ns()
    note("emitting", number=number)
    await wl.emit("said", {"number": number})
    note("emitted", synced=True, number=number)
    return True


DEEDS: list[Callable[[Random], Awaitable[bool]]] = [cancel, retry, pause, edit, emit]


async def main(seed: str) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    random = Random(seed)
    note("ready")
    await _surely(lambda: wl.queues.resume("default"))  # the one before may have died in a pause
    while not told.is_set():
        for deed in random.sample(DEEDS, len(DEEDS)):
            try:
                if await deed(random):
                    note("operated", deed=deed.__name__)
            except WindlassError as error:
                note("refused", deed=deed.__name__, code=error.code)
        await asyncio.sleep(0.2)
    await _surely(lambda: wl.queues.resume("default"), times=100)
    await wl.close()
    note("left", pid=os.getpid())


async def _surely(deed: Callable[[], Awaitable[object]], *, times: int = 500) -> None:
    """Do it again while the database is away; not for ever, since the run may be over."""
    for _ in range(times):
        try:
            await deed()
            return
        except WindlassError:
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
