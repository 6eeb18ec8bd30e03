"""Verbs blocked by a lock: their snapshot is outdated by the time they continue.

Not on SQLite, where one writer at a time leaves nobody stuck half way.
"""

import asyncio

import pytest

from tests.conformance.races.race import uncommitted
from tests.support.job_builders import (
    ALDER,
    DAY,
    LEASE_TIME,
    claim,
    enqueue,
    enqueue_child,
    finish,
    held,
    job,
    log_line,
    lost,
    new_jobs,
    settle,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState

#: Long enough for a statement to meet a lock; too short costs only sharpness.
MEETING = 0.05
#: Far longer than any statement without a lock wait takes.
GENEROUS = 60.0

several_writers = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@several_writers
@pytest.mark.parametrize("keep", [True, False])
async def test_a_child_enqueued_while_the_end_of_its_parent_is_blocked(
    storage, twin, database, keep
):
    other, parent = await started(storage), await started(storage)
    async with uncommitted(twin) as inside:
        await inside.leases.renew(ALDER, [held(other)], lease_time=LEASE_TIME)
        ending = asyncio.create_task(
            storage.leases.finish(ALDER, [finish(other, keep=keep), finish(parent, keep=keep)])
        )
        await asyncio.wait({ending}, timeout=MEETING)
        child = await enqueue_child(twin, parent.job_id)

    assert len(await ending) == 2
    await settle(storage)
    assert await state_of(storage, child) is JobState.QUEUED


@several_writers
@pytest.mark.parametrize("how", [{}, {"held": True}, {"delay": DAY}], ids=["due", "held", "later"])
async def test_a_child_enqueued_while_the_cancel_of_its_parent_is_blocked(
    storage, twin, database, how
):
    other, parent = await enqueue(storage, **how), await enqueue(storage, **how)
    async with uncommitted(twin) as inside:
        await inside.leases.admit([await enqueue_child(inside, other)])  # holds a lock on the other
        canceling = asyncio.create_task(storage.jobs.cancel(ALL_TENANTS, [other, parent]))
        await asyncio.wait({canceling}, timeout=MEETING)
        child = await enqueue_child(twin, parent)

    assert len(await canceling) == 2
    await settle(storage)
    assert await state_of(storage, child) is JobState.CANCELED


@several_writers
async def test_a_reaper_skips_rows_locked_by_a_transaction(storage, twin, database, clock):
    stuck, free = await started(storage), await started(storage)
    await clock.advance(LEASE_TIME)
    async with uncommitted(twin) as inside:
        await inside.leases.append_logs(ALDER, [log_line(stuck, "frozen here")])
        async with asyncio.timeout(GENEROUS):
            passed_by = await storage.leases.reap([lost(stuck), lost(free)])

    assert list(passed_by) == [held(free)]
    assert list(await storage.leases.reap([lost(stuck)])) == [held(stuck)]


@several_writers
async def test_a_claim_skips_rows_locked_by_others(storage, twin, database):
    first, second = await enqueue(storage), await enqueue(storage)
    async with uncommitted(twin) as inside:
        [other] = await claim(inside, worker="birch")
        [mine] = await claim(storage)

    assert (other.job_id, mine.job_id) == (first, second)
    assert (await job(storage, first)).worker_id == "birch"


@several_writers
async def test_a_renewal_does_not_wait_for_ends_of_other_jobs(storage, twin, database):
    leases = [await started(storage) for _ in range(4)]
    async with uncommitted(twin) as inside:
        await inside.leases.finish(ALDER, [finish(leases[0])])

        renewed = await storage.leases.renew(
            ALDER, [held(one) for one in leases[1:]], lease_time=LEASE_TIME
        )

    assert len(renewed) == 3


@postgresql
async def test_a_deadlocked_verb_is_retried(storage, twin, database):
    first, second = await started(storage), await started(storage)
    child = await enqueue(storage, after=(first.job_id, second.job_id))
    async with uncommitted(twin) as inside:
        await inside.leases.renew(ALDER, [held(second)], lease_time=LEASE_TIME)
        admitting = asyncio.create_task(storage.leases.admit([child]))
        await asyncio.wait({admitting}, timeout=MEETING)

        await inside.leases.renew(ALDER, [held(first)], lease_time=LEASE_TIME)

    assert await admitting == {child: JobState.PENDING}
    await storage.leases.finish(ALDER, [finish(first), finish(second)])
    assert await state_of(storage, child) is JobState.QUEUED


@several_writers
async def test_a_claim_skips_rows_locked_by_another_claim(storage, twin, database):
    await storage.jobs.enqueue(new_jobs(3))
    async with uncommitted(twin) as inside:
        first = await claim(inside, 1)
        claiming = asyncio.create_task(claim(storage, 3, worker="birch"))
        # A claim that waits ends only when the other one does, which is after this block.
        done, _ = await asyncio.wait({claiming}, timeout=GENEROUS)

    others = await claiming
    assert done, "the claim waited for another claim's locks"
    assert len(first) == 1
    assert len(others) == 2
    assert not {lease.job_id for lease in first} & {lease.job_id for lease in others}
