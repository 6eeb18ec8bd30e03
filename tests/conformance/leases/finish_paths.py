"""Every way an attempt's end reaches a database: each is written by statements of its own somewhere."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from typing import Any

import psycopg

from tests.databases.connect import connect_mariadb
from tests.support.job_builders import World, finish, release, started, worker_of
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import LeaseRef
from windlass.ids import WorkerId
from windlass.storage.callers import caller_session, drive
from windlass.storage.leases.leases import finish_batch

#: Ends one lease as `worker`, and returns the result of storage.
Way = Callable[[World, WorkerId, LeaseRef], Awaitable[Mapping[LeaseRef, JobState]]]


def _by_itself(*, emit: bool = True, **changes: Any) -> Way:
    async def end(world: World, worker: WorkerId, held: LeaseRef) -> Mapping[LeaseRef, JobState]:
        return await world.storage.leases.finish(worker, [finish(held, **changes)], emit=emit)

    return end


async def _handed_back(
    world: World, worker: WorkerId, held: LeaseRef
) -> Mapping[LeaseRef, JobState]:
    return await world.storage.leases.finish(worker, [release(held)])


async def _among_successes(
    world: World, worker: WorkerId, held: LeaseRef
) -> Mapping[LeaseRef, JobState]:
    return await _among(world, worker, finish(held))


async def _among_failures(
    world: World, worker: WorkerId, held: LeaseRef
) -> Mapping[LeaseRef, JobState]:
    return await _among(world, worker, finish(held), state=JobState.QUEUED, error="boom")


async def _among(
    world: World, worker: WorkerId, end: AttemptEnd, **neighbours_end: Any
) -> Mapping[LeaseRef, JobState]:
    """End a lease together with one that `worker` does hold, whose end must count."""
    neighbour = await started(world.storage, by=worker)
    assert worker_of(neighbour) == worker
    ended = await world.storage.leases.finish(worker, [end, finish(neighbour, **neighbours_end)])
    assert ended.pop(neighbour.held, None) is not None, "the neighbour's end was not recorded"
    return ended


async def _in_callers_transaction(
    world: World, worker: WorkerId, held: LeaseRef
) -> Mapping[LeaseRef, JobState]:
    with closing(_connect(world)) as connection:
        session = caller_session(connection, world.storage.database)
        ended = drive(session.run("finish", **finish_batch(worker, [finish(held)])))
        connection.commit()
    return {LeaseRef(held.job_id, row["lease_token"]): JobState(row["state"]) for row in ended}


def _connect(world: World) -> Any:
    url = world.database.url
    match world.database.kind:
        case "postgresql":
            return psycopg.connect(url)
        case "mariadb":
            return connect_mariadb(url)
        case _:
            return sqlite3.connect(url.removeprefix("sqlite:///"))


WAYS: Mapping[str, Way] = {
    "success": _by_itself(),
    "success with a result": _by_itself(result='{"n": 1}'),
    "success with a warning": _by_itself(warnings='["slow"]'),
    "success that is not kept": _by_itself(keep=False),
    "another try": _by_itself(state=JobState.QUEUED, error="boom"),
    "dead letter": _by_itself(state=JobState.DEAD_LETTER, error="boom"),
    "dead letter without its event": _by_itself(state=JobState.DEAD_LETTER, emit=False),
    "canceled": _by_itself(state=JobState.CANCELED),
    "release": _handed_back,
    "success among successes": _among_successes,
    "success among failures": _among_failures,
    "success in the caller's transaction": _in_callers_transaction,
}
