"""Races of claim with every verb that can meet it."""

import pytest

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    ACME,
    ALDER,
    DAY,
    LEASE_TIME,
    SECOND,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    finish,
    held,
    ids_in,
    job,
    new_jobs,
    regate,
    release,
    set_enabled,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import LeaseRef
from windlass.ids import DefinitionKey

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


async def test_claim_against_claim(storage, twin):
    for number in range(ROUNDS):
        id = await enqueue(storage)

        mine, others = await race(number, claim(storage, worker="a"), claim(twin, worker="b"))

        [lease] = mine + others
        assert lease.job_id == id
        assert (await job(storage, id)).lease_token == lease.token
        await end(storage, lease)


async def test_claim_against_claim_under_a_limit(storage, twin):
    await storage.jobs.enqueue(new_jobs(20, definition=DefinitionKey("limited")))
    for number in range(ROUNDS):
        await race(number, claim(storage, 3), claim(twin, 3))

        running = await ids_in(storage, "running")
        assert len(running) <= 2
        await storage.leases.finish(ALDER, [finish(LeaseRef(id, 1)) for id in running])


@pytest.mark.parametrize("to", [CANCELED, DEAD_LETTER], ids=["cancel", "close"])
async def test_claim_against_cancel(storage, twin, to):
    for number in range(ROUNDS):
        id = await enqueue(storage)

        leases, result = await race(
            number, claim(storage), twin.jobs.cancel(ALL_TENANTS, [id], to=to)
        )

        after = await job(storage, id)
        if leases:
            assert result == {id: RUNNING}
            assert (after.state, after.cancel_requested_at is not None) == (RUNNING, True)
            assert await end(storage, leases[0], QUEUED) is to
        else:
            assert result == {id: to}
            assert after.state is to
        assert await in_one_place(storage, id)


async def test_claim_against_a_stale_finish(storage, twin):
    for number in range(ROUNDS):
        stale = await started(storage)
        await storage.leases.finish(ALDER, [release(stale)])
        await storage.leases.promote()

        [lease], result = await race(
            number, claim(storage), twin.leases.finish(ALDER, [finish(stale)])
        )

        assert result == {}
        assert lease.token > stale.token
        assert await end(storage, lease) is COMPLETED


async def test_claim_against_release(storage, twin):
    for number in range(ROUNDS):
        first = await started(storage)

        leases, released = await race(
            number, claim_all(twin, worker="b"), storage.leases.finish(ALDER, [release(first)])
        )

        assert released == {held(first): QUEUED}
        [lease] = leases or await claim_all(storage)
        assert lease.token == first.token + 1
        assert await end(storage, first) is None
        assert await end(storage, lease) is COMPLETED


async def test_claim_against_promote(storage, twin, clock):
    for number in range(ROUNDS):
        id = await enqueue(storage, delay=SECOND)
        await clock.advance(SECOND)

        leases, _ = await race(number, claim(storage), twin.leases.promote())

        [lease] = leases or await claim(storage)
        assert (lease.job_id, lease.token) == (id, 1)
        assert await in_one_place(storage, id)
        await end(storage, lease)


async def test_claim_against_run_now(storage, twin):
    for number in range(ROUNDS):
        id = await enqueue(storage, delay=DAY)

        leases, result = await race(number, claim(storage), twin.jobs.run_now(ALL_TENANTS, id))

        assert result
        [lease] = leases or await claim(storage)
        assert await end(storage, lease) is COMPLETED


async def test_claim_against_disabling_the_definition(storage, twin):
    for number in range(ROUNDS):
        id = await enqueue(storage)

        leases, _ = await race(number, claim(storage), set_enabled(twin, "plain", False))

        assert (await state_of(storage, id) is RUNNING) == bool(leases)
        assert await claim_all(storage) == []
        await set_enabled(storage, "plain", True)
        await regate(storage)
        for lease in leases or await claim_all(storage):
            assert await end(storage, lease) is COMPLETED


async def test_claim_against_suspending_the_tenant(storage, twin):
    for number in range(ROUNDS):
        await a_tenant(storage, "acme")
        id = await enqueue(storage, tenant=ACME)

        leases, _ = await race(number, claim(storage), a_tenant(twin, "acme", state="suspended"))

        assert (await state_of(storage, id) is RUNNING) == bool(leases)
        assert await claim_all(storage) == []
        await storage.jobs.cancel(ALL_TENANTS, [id])
        for lease in leases:
            await end(storage, lease, CANCELED)


async def test_claim_against_setting_a_tenants_limit(storage, twin):
    for number in range(ROUNDS):
        await a_tenant(storage, "acme")
        await storage.jobs.enqueue(new_jobs(4, tenant=ACME))

        leases, _ = await race(number, claim(storage, 2), a_tenant(twin, "acme", max_running=2))

        leases += await claim_all(storage)
        assert len(leases) == 2
        while leases:
            await storage.leases.finish(ALDER, [finish(lease) for lease in leases])
            leases = await claim_all(storage)


async def test_claim_against_claim_cleanup(storage, twin, clock):
    for number in range(ROUNDS):
        await storage.jobs.enqueue(new_jobs(3))
        await clock.advance(LEASE_TIME)

        leases, _ = await race(number, claim(storage, 3), twin.leases.drop_ended_claims())

        assert len(leases) == 3
