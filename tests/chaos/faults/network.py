"""A network between processes and database that cuts, delays and loses data."""

import asyncio
import time

from tests.chaos.run import Bite, ChaosRun, Fault
from tests.support.servers.tcp_proxy import Proxy


def _proxy(run: ChaosRun) -> Proxy:
    assert run.setup.proxy is not None
    return run.setup.proxy


async def cut(run: ChaosRun) -> Bite:
    """Connections are reset."""
    proxy = _proxy(run)
    links = proxy.connections

    async def fault() -> None:
        await asyncio.to_thread(proxy.cut)

    bite = await run.through(fault)
    return Bite(links, f"{links} connections were reset", bite.recovered_seconds)


async def refuse(run: ChaosRun) -> Bite:
    """Connections are reset, and no new one is taken for a while."""
    proxy = _proxy(run)
    before = proxy.accepted

    async def fault() -> None:
        await asyncio.to_thread(proxy.refuse)
        await run.until(lambda: proxy.accepted >= before + 3, within=15)
        proxy.heal()

    bite = await run.through(fault)
    tried = proxy.accepted - before
    return Bite(tried, f"{tried} new connections were refused", bite.recovered_seconds)


async def delay(run: ChaosRun) -> Bite:
    """Every byte takes its time."""
    proxy, before = _proxy(run), len(run.progress.look().acknowledged_at)
    proxy.delay(0.15)
    await run.more(20, within=10)
    proxy.heal()
    acknowledged = len(run.progress.look().acknowledged_at) - before
    return Bite(proxy.connections, f"{acknowledged} batches were acknowledged over slow links")


async def silence(run: ChaosRun) -> Bite:
    """Half-open connections: nothing comes back, and nobody says so."""
    proxy = _proxy(run)
    before = proxy.swallowed
    proxy.silence()
    await run.until(lambda: proxy.swallowed > before, within=20)
    await asyncio.sleep(run.lease)
    proxy.heal()
    healed = time.monotonic()
    swallowed = proxy.swallowed - before
    again = await run.until(lambda: _started(run, after=healed))
    went_on = "its worker went on" if again else "its worker did not go on"
    return Bite(swallowed, f"{swallowed} bytes were swallowed; {went_on}", again and again - healed)


def _started(run: ChaosRun, *, after: float) -> float | None:
    """When the worker behind the proxy started a job after an instant."""
    worker = run.fleet.workers()[0]
    line = run.progress.seen.get(worker.pid) if worker.process else None
    return line["at"] if line and line["what"] == "started" and line["at"] > after else None


async def lose_answers(run: ChaosRun) -> Bite:
    """Requests are done, and their answers lost."""
    proxy = _proxy(run)
    before = proxy.answers_lost
    for _ in range(5):
        proxy.lose_answers(2)
        await run.more(5, within=5)
    await run.until(lambda: proxy.answers_lost > before, within=20)
    proxy.heal()
    lost = proxy.answers_lost - before
    return Bite(lost, f"{lost} answers were lost")


async def restart_pooler(run: ChaosRun) -> Bite:
    """The pooler is killed, and comes back."""
    bouncer = run.setup.bouncer
    assert bouncer is not None

    async def fault() -> None:
        await asyncio.to_thread(bouncer.kill)
        await asyncio.sleep(1)
        await asyncio.to_thread(bouncer.start)

    return await run.through(fault)


FAULTS: dict[str, Fault] = {
    "connections cut": cut,
    "connections refused": refuse,
    "slow network": delay,
    "half-open connections": silence,
    "answers lost": lose_answers,
}
POOLER_FAULTS: dict[str, Fault] = {"pooler killed": restart_pooler}
