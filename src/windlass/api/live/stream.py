"""`/stream`: live changes as server-sent events."""

from typing import Annotated

from starlette.responses import Response

from windlass.api.access.callers import (
    ONLY_OWN,
    Caller,
    CurrentCaller,
    ReadyEngine,
    authenticate_caller,
)
from windlass.api.live import topics as known
from windlass.api.live.current_feed import CurrentFeed
from windlass.api.live.frames import EventStream
from windlass.api.middleware.rate_limit import credential_hash
from windlass.api.routing import Header, Query, Request, Routes
from windlass.engine.engine import Engine
from windlass.errors import Forbidden, JobNotFound, WindlassError

routes = Routes("stream")


@routes.get(
    "",
    "stream.read",
    summary="Follow changes",
    status_code=200,
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    own=True,
)
async def follow(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    feed: CurrentFeed,
    topics: Annotated[
        str,
        Query(
            description="Some of jobs, dead, queues, workers, schedules, triggers, events, "
            "job:<id> and log:<id>, by commas.",
            max_length=8_000,
        ),
    ],
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
) -> Response:
    """Server-sent events. After `ready` no change is missed: read the data you show then, and again
    for topics named by a `reset`; `changes` has the differences since. Callers limited to their own
    jobs may follow each as job:<id>, and its log as log:<id>."""
    parsed = known.parse(topics)
    await _check(caller, engine, parsed)
    reserved = feed.quota.take(caller.name, caller.scope.tenant)
    subscription = feed.subscribe(engine, parsed, caller.scope, last_id=last_event_id)

    async def check() -> bool:
        try:
            return await authenticate_caller(request, request.query_params.get("tenant")) == caller
        except WindlassError:  # the credential is gone, or cannot be checked
            return False

    async def still_may() -> bool:
        return await feed.rechecks.may_listen((caller, credential_hash(request)), check)

    def close() -> None:
        subscription.close()
        feed.quota.give_back(reserved)

    return EventStream(feed, subscription, still_may=still_may, close=close)


async def _check(caller: Caller, engine: Engine, topics: frozenset[str]) -> None:
    for topic in sorted(topics):
        right = known.required_right(topic)
        if not caller.may(right):
            raise Forbidden(right)
        if not _only_own(caller, right):
            continue
        job = known.topic_job(topic)
        if job is None:
            raise Forbidden(right, because=ONLY_OWN)
        if (await engine.jobs.get(job, caller.scope)).created_by != caller.name:
            raise JobNotFound(job)


def _only_own(caller: Caller, right: str) -> bool:
    """Check if the right covers only the caller's own jobs."""
    return caller.owner is not None or (right in _OF_JOBS and not caller.reads_all)


#: Rights that a caller who does not read all jobs has for its own.
_OF_JOBS = ("jobs.read", "logs.read")
