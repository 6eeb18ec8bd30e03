"""Every two verbs on one job, the second starting before the first has committed.

The results and the rows left behind equal those of running them one after the other.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.conformance.races.race import uncommitted
from tests.support.job_builders import (
    ALDER,
    DAY,
    HOUR,
    LEASE_TIME,
    SECOND,
    World,
    a_job,
    claim,
    finish,
    held,
    log_line,
    lost,
    new_job,
    offer,
    release,
    rows_of,
    settle,
    started,
    tables_of,
)
from windlass.core.jobs.dead import PayloadEdit
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import Lease, ProgressReport
from windlass.ids import JobId, new_job_id
from windlass.storage.storage import Storage

#: Long enough for a statement to meet the first one's locks; too short costs only sharpness.
MEETING = 0.02


@dataclass(frozen=True)
class Subject:
    """The job that both verbs are about."""

    id: JobId
    queue: str
    lease: Lease | None = None
    kept: bool = True
    children: list[JobId] = field(default_factory=list)


Verb = Callable[[Storage, Subject], Awaitable[Any]]

# The verbs; each returns a result that does not name the job


def ending(**how: Any) -> Verb:
    async def end(storage: Storage, subject: Subject) -> list[str]:
        make = how.get("make", finish)
        rest = {name: value for name, value in how.items() if name != "make"}
        return [*(await storage.leases.finish(ALDER, [make(subject.lease, **rest)])).values()]

    return end


async def reap(storage: Storage, subject: Subject) -> list[str]:
    return [*(await storage.leases.reap([lost(subject.lease)])).values()]


async def renew(storage: Storage, subject: Subject) -> list[bool]:
    renewed = await storage.leases.renew(ALDER, [held(subject.lease)], lease_time=LEASE_TIME)
    return [renewal.cancel_requested for renewal in renewed]


async def report(storage: Storage, subject: Subject) -> int:
    lease = subject.lease
    progress = ProgressReport(job_id=lease.job_id, token=lease.token, fraction=0.5, note="half")
    return len(await storage.leases.record_progress(ALDER, [progress]))


async def log(storage: Storage, subject: Subject) -> int:
    return len(
        await storage.leases.append_logs(
            ALDER, [log_line(subject.lease, "a"), log_line(subject.lease, "b")]
        )
    )


async def take(storage: Storage, subject: Subject) -> int:
    return len(await claim(storage, queues=[subject.queue]))


async def promote(storage: Storage, subject: Subject) -> bool:
    return subject.queue in await storage.leases.promote()


async def cancel(storage: Storage, subject: Subject) -> list[str]:
    return [*(await storage.jobs.cancel(ALL_TENANTS, [subject.id])).values()]


async def close(storage: Storage, subject: Subject) -> list[str]:
    to = JobState.DEAD_LETTER
    return [*(await storage.jobs.cancel(ALL_TENANTS, [subject.id], to=to)).values()]


async def run_now(storage: Storage, subject: Subject) -> bool:
    return await storage.jobs.run_now(ALL_TENANTS, subject.id)


async def retry(storage: Storage, subject: Subject) -> str | None:
    return await storage.jobs.retry(ALL_TENANTS, subject.id)


async def edit(storage: Storage, subject: Subject) -> str | None:
    other = PayloadEdit(payload='{"n": 2}', message="edited", token=1)
    return await storage.jobs.retry(ALL_TENANTS, subject.id, edit=other)


async def put_off(storage: Storage, subject: Subject) -> str:
    newer = new_job(queue=subject.queue, dedupe_key=subject.queue, payload='{"n": 3}', delay=DAY)
    return (await storage.jobs.replace(newer, subject.id)).status


async def discard(storage: Storage, subject: Subject) -> bool:
    return await storage.jobs.discard(ALL_TENANTS, subject.id)


async def prune(storage: Storage, subject: Subject) -> None:
    await storage.monitoring.prune("plain", days=1, before_id=new_job_id())


async def add_child(storage: Storage, subject: Subject) -> str:
    child = new_job(after=(subject.id,))
    stored = await offer(storage, child)
    if stored.status == "created":
        await storage.leases.admit([child.id])
        subject.children.append(child.id)
    return stored.status


#: These pass over what another transaction holds; whoever needs it comes back.
PASSING_BY = {take, promote, reap}

SITUATIONS: dict[str, dict[str, Verb]] = {
    "running": {
        "finish": ending(),
        "fail": ending(state=JobState.QUEUED, delay=HOUR),
        "release": ending(make=release, delay=HOUR),
        "reap": reap,
        "renew": renew,
        "report": report,
        "log": log,
        "cancel": cancel,
        "put off": put_off,
        "add child": add_child,
    },
    "running and not kept": {
        "vanish": ending(keep=False),
        "reap": reap,
        "log": log,
        "add child": add_child,
    },
    "due": {
        "claim": take,
        "cancel": cancel,
        "close": close,
        "run now": run_now,
        "put off": put_off,
        "add child": add_child,
    },
    "becoming due": {
        "promote": promote,
        "run now": run_now,
        "put off": put_off,
        "cancel": cancel,
        "add child": add_child,
    },
    "held": {"run now": run_now, "cancel": cancel, "put off": put_off, "add child": add_child},
    "dead": {
        "retry": retry,
        "edit": edit,
        "put off": put_off,
        "discard": discard,
        "prune": prune,
        "cancel": cancel,
        "add child": add_child,
    },
}


FIRSTS = [
    pytest.param(situation, first, id=f"{first} a {situation} job")
    for situation, verbs in SITUATIONS.items()
    for first in verbs
]


# The two orders


async def arranged(world: World, situation: str) -> Subject:
    """A fresh job in a situation, in a queue of its own, with a key of that name."""
    storage, queue = world.storage, f"of {new_job_id()}"
    if situation.startswith("running"):
        lease = await started(storage, queue=queue, dedupe_key=queue)
        await world.clock.advance(LEASE_TIME)
        return Subject(lease.job_id, queue, lease, kept=situation == "running")
    if situation == "dead":
        dead = await a_job(storage, JobState.DEAD_LETTER, queue=queue, dedupe_key=queue)
        await world.clock.advance(2 * DAY)
        return Subject(dead.id, queue)
    how = {"due": {}, "becoming due": {"delay": HOUR}, "held": {"held": True}}[situation]
    new = new_job(queue=queue, dedupe_key=queue, **how)
    await offer(storage, new)
    await world.clock.advance(HOUR)
    return Subject(new.id, queue)


async def visible_state(world: World, subject: Subject) -> Any:
    """The visible state of a job and its children after upkeep."""
    storage = world.storage
    await settle(storage)
    if not subject.kept:
        await world.clock.advance(SECOND)
        await storage.monitoring.prune("plain", days=0, before_id=new_job_id(), spare_dead=True)
    found = await storage.jobs.get(ALL_TENANTS, subject.id)
    children = [(await storage.jobs.get(ALL_TENANTS, child)).state for child in subject.children]
    if found is None:
        return children
    assert len(await tables_of(storage, subject.id)) == 1
    keyed = JobQuery.of(queue=subject.queue)
    return (
        [found.state, found.attempts, found.worker_deaths, found.lease_token, found.progress],
        [found.cancel_requested_at is not None, found.outcome, found.waits, found.payload],
        sorted(job.state for job in (await storage.jobs.page(ALL_TENANTS, keyed)).jobs),
        await rows_of(storage, "windlass_logs", "job_id", subject.id),
        len(await storage.jobs.attempts(found)),
        children,
    )


async def one_after_the_other(world: World, situation: str, *verbs: Verb) -> Any:
    subject = await arranged(world, situation)
    results = [await verb(world.storage, subject) for verb in verbs]
    return results, await visible_state(world, subject)


async def overlapping(
    world: World, twin: Storage, situation: str, first: Verb, second: Verb, *, undone: bool = False
) -> Any:
    """Both at once; with `undone` the first is rolled back in the end."""
    subject = await arranged(world, situation)
    forgotten = replace(subject, children=[]) if undone else subject
    try:
        async with uncommitted(world.storage) as inside:
            result = await first(inside, forgotten)
            meeting = asyncio.create_task(second(twin, subject))
            await asyncio.wait({meeting}, timeout=MEETING)
            if undone:
                raise Undone
    except Undone:
        pass
    other = await meeting
    if second in PASSING_BY and not other:
        other = await second(twin, subject)
    results = [other] if undone else [result, other]
    return results, await visible_state(world, subject)


class Undone(Exception):
    pass


#: What a verb does by itself, by database, situation and verb.
_ALONE: dict[tuple[str, str, str], Any] = {}


@pytest.mark.parametrize(("situation", "name"), FIRSTS)
async def test_a_verb_against_another_that_will_commit(world, twin, situation, name):
    verbs = SITUATIONS[situation]
    first = verbs[name]
    for other, second in verbs.items():
        expected = [await one_after_the_other(world, situation, first, second)]

        got = await overlapping(world, twin, situation, first, second)

        if got not in expected:
            results, seen = await one_after_the_other(world, situation, second, first)
            expected.append((results[::-1], seen))
        assert got in expected, f"{name} met by {other}"


@pytest.mark.parametrize(("situation", "name"), FIRSTS)
async def test_a_verb_against_another_that_will_roll_back(world, twin, situation, name):
    verbs = SITUATIONS[situation]
    for other, second in verbs.items():
        key = (world.database.kind, situation, other)
        if key not in _ALONE:
            _ALONE[key] = await one_after_the_other(world, situation, second)

        got = await overlapping(world, twin, situation, verbs[name], second, undone=True)

        assert got == _ALONE[key], f"{other} after {name} was undone"


async def test_an_uncommitted_verb_is_invisible(world, twin):
    subject = await arranged(world, "due")

    async with uncommitted(world.storage) as inside:
        await take(inside, subject)
        before = await twin.jobs.get(ALL_TENANTS, subject.id)
    after = await twin.jobs.get(ALL_TENANTS, subject.id)

    assert (before.state, after.state) == (JobState.QUEUED, JobState.RUNNING)
