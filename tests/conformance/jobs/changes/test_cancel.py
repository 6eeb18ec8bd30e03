"""cancel and close: waiting jobs end at once, running ones are asked to stop."""

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    HOUR,
    SECOND,
    a_job,
    a_tenant,
    claim,
    claim_all,
    end,
    enqueue,
    enqueue_child,
    held,
    job,
    lease_of,
    new_job,
    new_jobs,
    offer,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import ENDED, JobState, Outcome
from windlass.ids import new_job_id


@pytest.mark.parametrize("how", [{}, {"delay": HOUR}, {"held": True}])
@pytest.mark.parametrize("to", [JobState.CANCELED, JobState.DEAD_LETTER])
async def test_a_waiting_job_ends_at_once(storage, clock, how, to):
    id = await enqueue(storage, **how)
    await clock.advance(SECOND)

    result = await storage.jobs.cancel(ALL_TENANTS, [id], actor="ada", reason="not needed", to=to)

    ended = await job(storage, id)
    assert result == {id: to}
    assert (ended.state, ended.finished_at) == (to, clock.now)
    assert (ended.cancel_requested_by, ended.cancel_requested_at) == ("ada", clock.now)
    assert (ended.reason, ended.outcome, ended.attempts) == ("not needed", None, 0)
    assert ended.payload == {"n": 1}
    assert await claim_all(storage) == []


async def test_a_closed_job_has_the_reason_as_its_error(storage):
    id = await enqueue(storage)

    await storage.jobs.cancel(ALL_TENANTS, [id], reason="Tenant not found", to=JobState.DEAD_LETTER)

    assert (await job(storage, id)).last_error == "Tenant not found"


async def test_a_job_canceled_by_the_system_has_no_actor(storage):
    id = await enqueue(storage)

    await storage.jobs.cancel(ALL_TENANTS, [id])

    ended = await job(storage, id)
    assert (ended.cancel_requested_by, ended.reason) == (None, None)


async def test_a_running_job_is_asked_to_stop_and_runs_until_it_ends(storage, clock):
    lease = await started(storage)
    await clock.advance(SECOND)

    result = await storage.jobs.cancel(
        ALL_TENANTS, [lease.job_id], actor="ada", reason="not needed"
    )

    canceled = await job(storage, lease.job_id)
    assert result == {lease.job_id: JobState.RUNNING}
    assert (canceled.state, canceled.cancel_requested_at) == (JobState.RUNNING, clock.now)
    assert (canceled.cancel_requested_by, canceled.reason) == ("ada", "not needed")
    assert await storage.leases.cancel_requests(ALDER, [held(lease)]) == {lease.job_id}
    assert await end(storage, lease, JobState.CANCELED) is JobState.CANCELED


async def test_only_jobs_asked_to_stop_are_reported_to_their_worker(storage):
    canceled, going_on, former = [await started(storage) for _ in range(3)]
    await storage.jobs.cancel(ALL_TENANTS, [canceled.job_id, former.job_id])
    await end(storage, former, JobState.CANCELED)

    assert await storage.leases.cancel_requests(
        ALDER, [held(a) for a in (canceled, going_on, former)]
    ) == {canceled.job_id}
    assert await storage.leases.cancel_requests(ALDER, []) == set()


async def test_a_repeated_cancel_request_changes_nothing(storage, clock):
    lease = await started(storage)
    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id], actor="ada", reason="first")
    before = await job(storage, lease.job_id)
    await clock.advance(SECOND)

    result = await storage.jobs.cancel(ALL_TENANTS, [lease.job_id], actor="bob", reason="second")

    assert result == {lease.job_id: JobState.RUNNING}
    assert await job(storage, lease.job_id) == before


async def test_an_ended_job_is_not_canceled(storage):
    for state in sorted(ENDED):
        before = await a_job(storage, state)

        assert await storage.jobs.cancel(ALL_TENANTS, [before.id], actor="ada") == {}
        assert await job(storage, before.id) == before


async def test_a_retrying_job_keeps_its_error_when_it_is_canceled(storage):
    lease = await started(storage)
    await end(storage, lease, JobState.QUEUED, error="boom", delay=HOUR)

    await storage.jobs.cancel(ALL_TENANTS, [lease.job_id])

    ended = await job(storage, lease.job_id)
    assert (ended.last_error, ended.outcome, ended.attempts) == ("boom", Outcome.FAILED, 1)
    assert [a.outcome for a in await storage.jobs.attempts(ended)] == [Outcome.FAILED]


async def test_many_jobs_in_many_states_are_canceled_in_one_call(storage):
    states = list(JobState) * 3
    jobs = [await a_job(storage, state) for state in states]

    result = await storage.jobs.cancel(ALL_TENANTS, [*(one.id for one in jobs), new_job_id()])

    goes_to = {
        JobState.PENDING: JobState.CANCELED,
        JobState.QUEUED: JobState.CANCELED,
        JobState.RUNNING: JobState.RUNNING,
    }
    assert result == {
        one.id: goes_to[state] for one, state in zip(jobs, states, strict=True) if state in goes_to
    }
    assert await storage.jobs.cancel(ALL_TENANTS, []) == {}


async def test_a_repeated_id_is_canceled_once(storage):
    id = await enqueue(storage)

    assert await storage.jobs.cancel(ALL_TENANTS, [id, id]) == {id: JobState.CANCELED}


async def test_another_tenant_cancels_nothing(storage):
    await a_tenant(storage, "acme")
    mine = [await a_job(storage, state, tenant=ACME) for state in JobState]

    result = await storage.jobs.cancel(Scope.of("globex"), [one.id for one in mine])

    assert result == {}
    for one in mine:
        assert await job(storage, one.id) == one
    assert len(await storage.jobs.cancel(Scope(ACME), [one.id for one in mine])) == 3


async def test_a_canceled_job_releases_its_dedupe_key(storage):
    id = await enqueue(storage, dedupe_key="d", idempotency_key="i")

    await storage.jobs.cancel(ALL_TENANTS, [id])

    assert (await offer(storage, new_job(dedupe_key="d"))).status == "created"
    assert (await offer(storage, new_job(idempotency_key="i"))).existing_id == id


async def test_a_parent_and_its_children_are_canceled_in_one_call(storage):
    parent = await enqueue(storage)
    children = [await enqueue_child(storage, parent) for _ in range(2)]
    grandchild = await enqueue_child(storage, *children, on_parent_failure="run")

    result = await storage.jobs.cancel(ALL_TENANTS, [grandchild, parent, *children])

    assert set(result.values()) == {JobState.CANCELED}
    assert len(result) == 4


async def test_a_thousand_jobs_are_canceled_in_one_call(storage):
    new = new_jobs(1000)
    await storage.jobs.enqueue(new)
    running = {lease.job_id for lease in await claim(storage, 10)}

    result = await storage.jobs.cancel(ALL_TENANTS, [n.id for n in new])

    assert len(result) == 1000
    assert {id for id, state in result.items() if state is JobState.RUNNING} == running


async def test_open_jobs_of_a_tenant_are_found_until_all_are_asked_to_stop(storage):
    await a_tenant(storage, "acme")
    jobs = {state: await a_job(storage, state, tenant=ACME) for state in JobState}
    later = await enqueue(storage, tenant=ACME, delay=HOUR)
    await enqueue(storage)

    found = await storage.access.open_jobs(ACME)

    assert set(found) == {
        jobs[JobState.PENDING].id,
        jobs[JobState.QUEUED].id,
        jobs[JobState.RUNNING].id,
        later,
    }
    await storage.jobs.cancel(ALL_TENANTS, found, to=JobState.DEAD_LETTER)
    assert await storage.access.open_jobs(ACME) == []
    assert await state_of(storage, later) is JobState.DEAD_LETTER


async def test_open_jobs_are_found_in_batches(storage):
    await storage.jobs.enqueue(new_jobs(5))
    await storage.jobs.enqueue(new_jobs(5, held=True))
    closed = 0

    while found := await storage.access.open_jobs("default", most=2):
        assert len(found) <= 4
        closed += len(await storage.jobs.cancel(ALL_TENANTS, found))

    assert closed == 10


async def test_a_canceled_job_is_not_claimed(storage):
    id = await enqueue(storage)
    lease = await lease_of(storage, id)
    await storage.jobs.cancel(ALL_TENANTS, [id])
    await end(storage, lease, JobState.QUEUED)

    assert await claim_all(storage) == []
