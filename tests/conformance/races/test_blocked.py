"""Verbs stuck behind a lock: what they began to do is old by the time they can do it.

Not on SQLite, where one writer at a time leaves nobody stuck half way.
"""

import asyncio

import pytest

from tests.conformance.builders import (
    DAY,
    LEASE_TIME,
    claim,
    enqueue,
    enqueue_child,
    finish,
    held,
    job,
    settle,
    started,
    state_of,
)
from tests.conformance.races.race import uncommitted
from windlass.core.models import ALL_TENANTS
from windlass.core.states import JobState

#: Long enough for a statement to meet a lock; too short costs only sharpness.
MEETING = 0.05

several_writers = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@several_writers
@pytest.mark.parametrize("keep", [True, False])
async def test_a_child_stored_while_the_end_of_its_parent_is_stuck_elsewhere(
    storage, twin, database, keep
):
    other, parent = await started(storage), await started(storage)
    async with uncommitted(twin) as inside:
        await inside.renew([held(other)], lease_time=LEASE_TIME)
        ending = asyncio.create_task(
            storage.finish([finish(other, keep=keep), finish(parent, keep=keep)])
        )
        await asyncio.wait({ending}, timeout=MEETING)
        child = await enqueue_child(twin, parent.job_id)

    assert len(await ending) == 2
    await settle(storage)
    assert await state_of(storage, child) is JobState.QUEUED


@several_writers
@pytest.mark.parametrize("how", [{}, {"held": True}, {"delay": DAY}], ids=["due", "held", "later"])
async def test_a_child_stored_while_the_cancel_of_its_parent_is_stuck_elsewhere(
    storage, twin, database, how
):
    other, parent = await enqueue(storage, **how), await enqueue(storage, **how)
    async with uncommitted(twin) as inside:
        await inside.admit([await enqueue_child(inside, other)])  # holds a lock on the other
        canceling = asyncio.create_task(storage.cancel(ALL_TENANTS, [other, parent]))
        await asyncio.wait({canceling}, timeout=MEETING)
        child = await enqueue_child(twin, parent)

    assert len(await canceling) == 2
    await settle(storage)
    assert await state_of(storage, child) is JobState.CANCELED


@several_writers
async def test_a_claim_passes_by_what_others_hold(storage, twin, database):
    first, second = await enqueue(storage), await enqueue(storage)
    async with uncommitted(twin) as inside:
        [theirs] = await claim(inside, worker="birch")
        [mine] = await claim(storage)

    assert (theirs.job_id, mine.job_id) == (first, second)
    assert (await job(storage, first)).worker_id == "birch"


@several_writers
async def test_a_renewal_does_not_wait_for_ends_of_other_jobs(storage, twin, database):
    leases = [await started(storage) for _ in range(4)]
    async with uncommitted(twin) as inside:
        await inside.finish([finish(leases[0])])

        renewed = await storage.renew([held(one) for one in leases[1:]], lease_time=LEASE_TIME)

    assert len(renewed) == 3


@postgresql
async def test_a_verb_that_crosses_another_transaction_is_tried_again(storage, twin, database):
    first, second = await started(storage), await started(storage)
    child = await enqueue(storage, after=(first.job_id, second.job_id))
    async with uncommitted(twin) as inside:
        await inside.renew([held(second)], lease_time=LEASE_TIME)
        admitting = asyncio.create_task(storage.admit([child]))
        await asyncio.wait({admitting}, timeout=MEETING)

        await inside.renew([held(first)], lease_time=LEASE_TIME)

    assert await admitting == {child: JobState.PENDING}
    await storage.finish([finish(first), finish(second)])
    assert await state_of(storage, child) is JobState.QUEUED
