"""Waits for a job to end, by the live feed: one poll serves all waiting requests."""

import asyncio

from windlass import clock
from windlass.api.live.feed import LiveFeed
from windlass.api.live.topics import job_topic
from windlass.api.routing import Request
from windlass.core.jobs.models import Job, Scope
from windlass.engine.engine import Engine
from windlass.errors import JobNotFound


async def wait_for_end(
    request: Request, engine: Engine, feed: LiveFeed, job: Job, *, timeout: float
) -> None:
    """Return when the job has ended or is gone, at the timeout, or when client or server stops.
    Holds no database connection meanwhile."""
    until = clock.monotonic() + min(timeout, feed.pace.wait_seconds)
    scope = Scope.of(job.tenant)
    subscription = feed.subscribe(engine, frozenset({job_topic(job.id)}), scope)
    disconnected = asyncio.ensure_future(_wait_for_disconnect(request))
    disconnected.add_done_callback(lambda _: subscription.end())
    try:
        # The first message means the job was polled; later changes are delivered from here on.
        while await subscription.next(max(0.0, until - clock.monotonic())):
            if (await engine.jobs.get(job.id, scope)).ended:
                return
    except JobNotFound:
        return
    finally:
        disconnected.cancel()
        subscription.close()


async def _wait_for_disconnect(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
