"""Waits for the end of a job by the feed of changes, which looks once for all who wait."""

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
    """Return when a job has ended or is gone, the time is over, the client has left, or the server
    stops. No connection to the database is held meanwhile."""
    until = clock.monotonic() + min(timeout, feed.pace.wait_seconds)
    scope = Scope.of(job.tenant)
    subscription = feed.subscribe(engine, frozenset({job_topic(job.id)}), scope)
    left = asyncio.ensure_future(_wait_for_disconnect(request))
    left.add_done_callback(lambda _: subscription.end())
    try:
        # The first message tells that the job was looked at; what happens from then on is told.
        while await subscription.next(max(0.0, until - clock.monotonic())):
            if (await engine.jobs.get(job.id, scope)).ended:
                return
    except JobNotFound:
        return
    finally:
        left.cancel()
        subscription.close()


async def _wait_for_disconnect(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
