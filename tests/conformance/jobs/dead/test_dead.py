"""The dead letter: its groups by cause, and the actions on them."""

import pytest

from tests.support.job_builders import (
    ACME,
    ALDER,
    HOUR,
    MINUTE,
    START,
    a_job,
    a_tenant,
    claim_all,
    end,
    enqueue,
    job,
    lease_of,
    rows_of,
    started,
    state_of,
)
from windlass.core.jobs.dead import PayloadEdit
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.jobs.states import JobState
from windlass.ids import new_job_id

TIMEOUT, REFUSED = "1" * 16, "2" * 16


async def dead(storage, fingerprint=TIMEOUT, error="boom", **changes):
    """A job that failed for good, for a cause."""
    lease = await started(storage, **changes)
    failure = {"error": error, "error_type": "OSError", "fingerprint": fingerprint}
    await end(storage, lease, JobState.DEAD_LETTER, **failure)
    return lease.job_id


def edit(**changes) -> PayloadEdit:
    return PayloadEdit(**{"payload": '{"n": 2}', "message": "edited", "token": 1} | changes)


async def test_a_dead_lettered_job_shows_its_cause_until_it_is_retried(storage):
    id = await dead(storage)
    [listed] = (await storage.jobs.page(ALL_TENANTS, JobQuery())).jobs
    assert (await job(storage, id)).fingerprint == listed.fingerprint == TIMEOUT

    await storage.jobs.retry(ALL_TENANTS, id)

    assert (await job(storage, id)).fingerprint is None


async def test_an_attempt_that_is_retried_has_no_cause(storage):
    failed, stopped, closed = [await started(storage) for _ in range(3)]
    await storage.jobs.cancel(ALL_TENANTS, [stopped.job_id])
    await storage.jobs.cancel(
        ALL_TENANTS, [closed.job_id], to=JobState.DEAD_LETTER, reason="Tenant not found"
    )

    await end(storage, failed, JobState.QUEUED, error="boom", fingerprint=TIMEOUT)
    await end(storage, stopped, JobState.DEAD_LETTER, error="boom", fingerprint=TIMEOUT)
    await end(storage, closed, JobState.DEAD_LETTER, error="boom", fingerprint=TIMEOUT)

    states = []
    for lease in (failed, stopped, closed):
        found = await job(storage, lease.job_id)
        states.append(found.state)
        assert found.fingerprint is None
    assert states == [JobState.QUEUED, JobState.CANCELED, JobState.DEAD_LETTER]


async def test_groups_are_by_cause_most_recent_first(storage, clock):
    await a_tenant(storage, "acme")
    first = await dead(storage, TIMEOUT, error="no answer in 3 s")
    await clock.advance(MINUTE)
    refused = await dead(storage, REFUSED)
    await clock.advance(MINUTE)
    last = await dead(storage, TIMEOUT, error="no answer in 7 s", tenant=ACME)
    await a_job(storage, JobState.COMPLETED)
    await a_job(storage, JobState.CANCELED)

    groups = await storage.jobs.dead_groups(ALL_TENANTS, "plain")

    assert [(g.definition, g.fingerprint, g.count, g.tenants, g.sample_id) for g in groups] == [
        ("plain", TIMEOUT, 2, 2, last),
        ("plain", REFUSED, 1, 1, refused),
    ]
    assert (groups[0].first_at, groups[0].last_at) == (START, START + 2 * MINUTE)
    assert groups[0].sentence == "OSError: no answer in <number> s"
    assert first < last


async def test_groups_are_per_definition_and_within_the_scope(storage):
    await a_tenant(storage, "acme")
    await dead(storage, TIMEOUT, tenant=ACME)
    await dead(storage, REFUSED)
    await dead(storage, REFUSED, definition="other")

    own = await storage.jobs.dead_groups(Scope(ACME), "plain")
    others = await storage.jobs.dead_groups(ALL_TENANTS, "other")

    assert [g.fingerprint for g in own] == [TIMEOUT]
    assert [(g.fingerprint, g.count) for g in others] == [(REFUSED, 1)]
    assert await storage.jobs.dead_groups(Scope.of("globex"), "plain") == []


async def test_details_of_groups_count_by_slot_and_name_the_tenants_hit_most(storage, clock):
    await a_tenant(storage, "acme")
    await dead(storage, TIMEOUT)
    await clock.advance(HOUR)
    for tenant in (ACME, ACME, "default"):
        await dead(storage, TIMEOUT, tenant=tenant)
    await dead(storage, REFUSED, tenant=ACME)
    slot = int(START.timestamp()) // 3600
    about = {"since": START, "slot_seconds": 3600}

    found = await storage.jobs.dead_group_details(ALL_TENANTS, "plain", **about)
    later = await storage.jobs.dead_group_details(
        ALL_TENANTS, "plain", since=START + MINUTE, slot_seconds=3600, most_tenants=1
    )
    own = await storage.jobs.dead_group_details(Scope(ACME), "plain", **about)

    assert found == {
        TIMEOUT: ({slot: 1, slot + 1: 3}, ["acme", "default"]),
        REFUSED: ({slot + 1: 1}, ["acme"]),
    }
    assert later[TIMEOUT] == ({slot + 1: 3}, ["acme"])
    assert own[TIMEOUT] == ({slot + 1: 2}, ["acme"])
    assert await storage.jobs.dead_group_details(ALL_TENANTS, "other", **about) == {}


async def test_the_newest_successes_of_a_definition_have_time_and_worker(storage, clock):
    await a_tenant(storage, "acme")
    first = await a_job(storage, JobState.COMPLETED)
    await clock.advance(MINUTE)
    second = await a_job(storage, JobState.COMPLETED, tenant=ACME)
    await dead(storage, TIMEOUT)
    await a_job(storage, JobState.COMPLETED, definition="other")

    found = await storage.jobs.latest_successes(ALL_TENANTS, "plain")
    newest = await storage.jobs.latest_successes(ALL_TENANTS, "plain", look=1)
    own = await storage.jobs.latest_successes(Scope(ACME), "plain")

    assert found == [(second.id, START + MINUTE, ALDER), (first.id, START, ALDER)]
    assert newest == own == [(second.id, START + MINUTE, ALDER)]


async def test_jobs_without_a_cause_form_a_group(storage):
    nameless = await a_job(storage, JobState.DEAD_LETTER)
    await dead(storage)

    [group] = [g for g in await storage.jobs.dead_groups(ALL_TENANTS, "plain") if not g.fingerprint]
    page = await storage.jobs.page(ALL_TENANTS, JobQuery.of(fingerprint=""))

    assert (group.count, group.sample_id) == (1, nameless.id)
    assert [j.id for j in page.jobs] == [nameless.id]


async def test_groups_and_scanned_jobs_are_bounded(storage):
    for fingerprint in (TIMEOUT, REFUSED, "3" * 16, "3" * 16):
        await dead(storage, fingerprint)

    few = await storage.jobs.dead_groups(ALL_TENANTS, "plain", most=2)
    newest = await storage.jobs.dead_groups(ALL_TENANTS, "plain", look=1)

    assert len(few) == 2
    assert [(g.fingerprint, g.count) for g in newest] == [("3" * 16, 1)]


async def test_the_jobs_of_a_group_are_listed(storage):
    wanted = [await dead(storage, TIMEOUT) for _ in range(2)]
    await dead(storage, REFUSED)
    await dead(storage, TIMEOUT, definition="other")

    page = await storage.jobs.page(
        ALL_TENANTS, JobQuery.of(definition="plain", fingerprint=TIMEOUT)
    )

    assert [j.id for j in page.jobs] == wanted[::-1]


async def test_an_edited_job_runs_with_its_new_payload_and_fresh_attempts(storage, clock):
    id = await dead(storage, payload='{"n": 1, "ä": "x"}', max_attempts=1)
    await clock.advance(MINUTE)

    result = await storage.jobs.retry(ALL_TENANTS, id, actor="ada", edit=edit(payload='{"n": 2}'))

    again = await job(storage, id)
    assert (result, again.state, again.payload) == ("queued", JobState.QUEUED, {"n": 2})
    assert (again.attempts, again.due_at, again.fingerprint) == (0, clock.now, None)
    transition = (await storage.jobs.transitions(again))[-1]
    assert (transition.actor, transition.message, transition.from_state) == (
        "ada",
        "edited",
        JobState.DEAD_LETTER,
    )
    [lease] = await claim_all(storage)
    assert lease.payload.replace(" ", "") == '{"n":2}'


@pytest.mark.parametrize("state", [s for s in JobState if s is not JobState.DEAD_LETTER])
async def test_only_a_dead_lettered_job_is_edited(storage, state):
    found = await a_job(storage, state)

    assert (
        await storage.jobs.retry(ALL_TENANTS, found.id, edit=edit(token=found.lease_token)) is None
    )

    after = await job(storage, found.id)
    assert (after.state, after.payload) == (state, {"n": 1})


async def test_an_edit_is_refused_if_the_job_failed_again_meanwhile(storage):
    id = await dead(storage)
    await storage.jobs.retry(ALL_TENANTS, id)
    await end(storage, await lease_of(storage, id), JobState.DEAD_LETTER, error="again")

    result = await storage.jobs.retry(ALL_TENANTS, id, edit=edit(token=1))

    assert result is None
    assert (await job(storage, id)).payload == {"n": 1}


async def test_another_tenant_edits_nothing(storage):
    id = await dead(storage)

    assert await storage.jobs.retry(Scope.of("globex"), id, edit=edit()) is None
    assert await state_of(storage, id) is JobState.DEAD_LETTER


async def test_an_edited_job_gets_the_key_of_its_new_payload(storage):
    id = await dead(storage, dedupe_key="old")
    other = await dead(storage, dedupe_key="other")
    await enqueue(storage, dedupe_key="old")

    edited = await storage.jobs.retry(ALL_TENANTS, id, edit=edit(dedupe_key="new"))
    refused = await storage.jobs.retry(ALL_TENANTS, other, edit=edit(dedupe_key="new"))

    assert (edited, refused) == ("queued", "duplicate")
    assert (await job(storage, id)).dedupe_key == "new"
    assert (await job(storage, other)).payload == {"n": 1}


async def test_a_bulk_retry_skips_jobs_whose_key_has_an_open_job(storage):
    plain = [await dead(storage) for _ in range(3)]
    twins = [await dead(storage, dedupe_key="same") for _ in range(2)]

    results = await storage.jobs.retry_many(
        ALL_TENANTS, [*plain, *twins, new_job_id()], actor="ada"
    )

    assert results == ["queued"] * 4 + ["duplicate", None]
    assert await state_of(storage, twins[1]) is JobState.DEAD_LETTER


async def test_many_jobs_are_discarded_in_one_call(storage):
    await a_tenant(storage, "acme")
    mine = [await dead(storage, tenant=ACME) for _ in range(2)]
    foreign = await dead(storage)

    results = await storage.jobs.discard_many(Scope(ACME), [*mine, foreign])

    assert results == [True, True, False]
    assert await rows_of(storage, "windlass_ended", "id", mine[0]) == 0
    assert await state_of(storage, foreign) is JobState.DEAD_LETTER
