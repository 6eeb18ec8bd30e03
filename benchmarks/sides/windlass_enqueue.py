"""Windlass as a program that enqueues: `windlass_enqueue.py VERB URL …`."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import uvloop

from benchmarks.sides.windlass_app import PAYLOAD, Verb, app, main


async def single(url: str, seconds: str) -> dict[str, float]:
    """One awaited enqueue after the other."""
    wl, noop, _ = app(url)
    async with wl:
        return await _rate(float(seconds), lambda: noop.enqueue(text=PAYLOAD))


async def concurrent(url: str, seconds: str, callers: str = "200") -> dict[str, float]:
    """Many callers, each awaiting its own enqueues."""
    wl, noop, _ = app(url)
    async with wl:
        return await _rates([noop] * int(callers), float(seconds))


async def bulk(url: str, jobs: str) -> dict[str, float]:
    """One call with many jobs, making them included."""
    wl, noop, _ = app(url)
    async with wl:
        await noop.enqueue(text=PAYLOAD)
        began = time.perf_counter()
        made = [noop.make(text=PAYLOAD) for _n in range(int(jobs))]
        await wl.enqueue_many(made)
        return {"per_second": int(jobs) / (time.perf_counter() - began)}


async def producers(url: str, seconds: str, count: str, nudges: str) -> dict[str, float]:
    """Apps with connections of their own, each awaiting its enqueues; `nudges` is on or off."""
    async with AsyncExitStack() as stack:
        nouns = []
        for _n in range(int(count)):
            wl, noop, _ = app(url)
            await stack.enter_async_context(wl)
            if nudges == "off":
                setattr(wl.engine.nudges, "nudge", _ignore)  # noqa: B010  a method is replaced
            nouns.append(noop)
        return await _rates(nouns, float(seconds))


async def in_transaction(url: str, seconds: str) -> dict[str, float]:
    """Each job in a transaction of the caller's own, on an asyncpg connection."""
    wl, noop, _ = app(url)
    connection: Any = await asyncpg.connect(url)

    async def one() -> None:
        async with connection.transaction():
            await noop.options(tx=connection).enqueue(text=PAYLOAD)

    async with wl:
        figures = await _rate(float(seconds), one)
    await connection.close()
    return figures


async def plain_insert(url: str, seconds: str) -> dict[str, float]:
    """The row of a job written by a plain INSERT, in a transaction like the one above."""
    connection: Any = await asyncpg.connect(url)
    statement = """
        insert into windlass_live (id, tenant_id, definition, queue, state, priority, due_at,
            payload, created_at, queued_at, updated_at)
        values (gen_random_uuid(), 'default', 'noop', 'default', 'queued', 100, now(),
            cast($1 as json), now(), now(), now())"""

    async def one() -> None:
        async with connection.transaction():
            await connection.execute(statement, f'{{"text": "{PAYLOAD}"}}')

    figures = await _rate(float(seconds), one)
    await connection.close()
    return figures


async def _rate(seconds: float, one: Callable[[], Awaitable[object]]) -> dict[str, float]:
    await one()  # connecting and preparing is not what is asked
    began, done = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        await one()
        done += 1
    return {"per_second": done / (time.perf_counter() - began)}


async def _rates(nouns: list[Any], seconds: float) -> dict[str, float]:
    await asyncio.gather(*[noop.enqueue(text=PAYLOAD) for noop in nouns])
    began = time.perf_counter()

    async def caller(noop: Any) -> int:
        done = 0
        while time.perf_counter() < began + seconds:
            await noop.enqueue(text=PAYLOAD)
            done += 1
        return done

    done = await asyncio.gather(*[caller(noop) for noop in nouns])
    return {"per_second": sum(done) / (time.perf_counter() - began)}


def _ignore(queues: object) -> None:
    """Instead of a nudge."""


VERBS: Mapping[str, Verb] = {
    "single": single,
    "concurrent": concurrent,
    "bulk": bulk,
    "producers": producers,
    "in_transaction": in_transaction,
    "plain_insert": plain_insert,
}

if __name__ == "__main__":
    # As the peer, and as most programs that enqueue.
    main(VERBS, uvloop.run)
