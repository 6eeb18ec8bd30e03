"""Suspects: jobs lost together run one at a time until each has proved harmless."""

import pytest

from tests.support.job_builders import (
    ALDER,
    KNOWN,
    LEASE_TIME,
    a_definition,
    claim,
    claim_all,
    end,
    enqueue,
    job,
    lost,
    new_job,
    new_jobs,
    release,
    set_enabled,
)
from windlass.core.jobs.states import JobState
from windlass.core.leases.gates import is_suspect, own_gate, suspect_gate, with_suspects

ALL_KNOWN = with_suspects(KNOWN)


def suspected(lease, *, alone=False):
    """The verdict of a reaper on a lease that expired together with others."""
    gate = suspect_gate(lease.gate, lease.definition, alone=alone)
    return lost(lease, gate=gate, uncounted=True, spared=True)


async def suspects(storage, clock, count, **changes):
    """Jobs that ran on one worker that died."""
    await storage.jobs.enqueue(new_jobs(count, **changes))
    leases = await claim_all(storage, known=[*KNOWN, *changes.get("known", ())])
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([suspected(lease) for lease in leases])
    await storage.leases.promote()
    return {lease.job_id for lease in leases}


async def test_a_suspect_gets_its_attempt_back_and_counts_no_worker_death(storage, clock):
    [id] = await suspects(storage, clock, 1)

    back = await job(storage, id)

    assert (back.state, back.attempts, back.worker_deaths) == (JobState.QUEUED, 0, 0)
    assert is_suspect(back.gate)
    [attempt] = await storage.jobs.attempts(back)
    assert attempt.outcome == "lost"


async def test_a_worker_gets_one_suspect_at_a_time(storage, clock):
    ids = await suspects(storage, clock, 5)

    first = await claim(storage, 10, worker="birch", known=ALL_KNOWN)
    none = await claim(storage, 10, worker="birch", known=ALL_KNOWN)
    other = await claim(storage, 10, worker="cedar", known=ALL_KNOWN)

    assert [len(first), len(none), len(other)] == [1, 0, 1]
    assert {lease.job_id for lease in first + other} < ids


@pytest.mark.parametrize("how", [JobState.COMPLETED, JobState.DEAD_LETTER, JobState.QUEUED])
async def test_the_next_suspect_is_claimed_after_the_last_one_ended(storage, clock, how):
    await suspects(storage, clock, 3)
    [first] = await claim(storage, 10, known=ALL_KNOWN)

    await end(storage, first, how)

    [second] = await claim(storage, 10, known=ALL_KNOWN)
    assert second.job_id != first.job_id


async def test_suspects_of_several_definitions_share_one_slot(storage, clock):
    await suspects(storage, clock, 2)
    await suspects(storage, clock, 2, definition="other")

    assert len(await claim(storage, 10, known=ALL_KNOWN)) == 1


async def test_ordinary_jobs_are_claimed_alongside_a_suspect(storage, clock):
    await suspects(storage, clock, 5)
    await storage.jobs.enqueue(new_jobs(5))

    first = await claim(storage, 10, known=ALL_KNOWN)
    await storage.jobs.enqueue(new_jobs(5))
    second = await claim(storage, 10, known=ALL_KNOWN)

    assert [is_suspect(lease.gate) for lease in first].count(True) == 1
    assert (len(first), len(second)) == (6, 5)


async def test_a_worker_without_suspect_support_skips_them(storage, clock):
    await suspects(storage, clock, 5)
    ordinary = await enqueue(storage)

    assert [lease.job_id for lease in await claim(storage, 10)] == [ordinary]


async def test_a_suspect_whose_attempt_failed_is_cleared(storage, clock):
    [id] = await suspects(storage, clock, 1)
    [lease] = await claim(storage, known=ALL_KNOWN)

    await end(storage, lease, JobState.QUEUED)

    await storage.leases.promote()
    assert (await job(storage, id)).gate == ""


async def test_a_released_suspect_stays_a_suspect(storage, clock):
    [id] = await suspects(storage, clock, 1)
    [lease] = await claim(storage, known=ALL_KNOWN)

    await storage.leases.finish(ALDER, [release(lease)])

    await storage.leases.promote()
    assert is_suspect((await job(storage, id)).gate)


async def test_a_suspect_that_ran_alone_stays_a_suspect(storage, clock):
    [id] = await suspects(storage, clock, 1)
    [lease] = await claim(storage, known=ALL_KNOWN)
    await clock.advance(LEASE_TIME)

    await storage.leases.reap([lost(lease, gate=lease.gate)])

    await storage.leases.promote()
    back = await job(storage, id)
    assert (back.attempts, back.worker_deaths, is_suspect(back.gate)) == (1, 1, True)


async def test_a_suspect_keeps_its_version_and_its_key(storage, clock):
    gate = own_gate(await versioned(storage), "default", "acme")
    job_ = new_job(definition="versioned", gate=gate)
    await storage.jobs.enqueue([job_])
    known = [*KNOWN, "versioned", "versioned\x1f2"]
    [lease] = await claim(storage, known=known)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([suspected(lease)])
    await storage.leases.promote()

    [again] = await claim(storage, known=with_suspects(known))
    await end(storage, again, JobState.QUEUED)
    await storage.leases.promote()

    assert again.gate == "versioned\x1f2\x1d\x1eacme"
    assert (await job(storage, job_.id)).gate == gate


async def versioned(storage):
    await a_definition(storage, "versioned", version=2)
    rows = {row.key: row for row in await storage.definitions.definitions()}
    return rows["versioned"]


async def test_suspects_of_a_limited_definition_count_under_its_limit(storage, clock):
    await storage.jobs.enqueue(new_jobs(2, definition="limited"))
    leases = await claim(storage, 10)
    await clock.advance(LEASE_TIME)
    await storage.leases.reap([suspected(lease) for lease in leases])
    await storage.leases.promote()
    await storage.jobs.enqueue(new_jobs(2, definition="limited"))
    await claim(storage, 2, worker="birch")

    assert await claim(storage, 10, worker="cedar", known=ALL_KNOWN) == []


async def test_suspects_of_a_disabled_definition_are_not_claimed(storage, clock):
    await suspects(storage, clock, 2)

    await set_enabled(storage, "plain", False)

    assert await claim(storage, 10, known=ALL_KNOWN) == []
